import { addFlow, deleteFlows, openSwitch, parseFlow, SwitchError } from '@podwire/openflow';

/** Replaces the flows that have a cookie, all at one moment. Returns how many packets each of the old ones has seen. */
export async function replaceFlows(
  socket: string, // /run/openvswitch/br0.mgmt
  cookie: string,
  texts: readonly string[],
): Promise<readonly number[]> {
  const bridge = await openSwitch(socket);
  try {
    const old = await bridge.dump('flow', { cookieFilter: cookie });
    const flows = texts.map((text) => addFlow({ ...parseFlow(text), cookie }));
    await bridge.applyBundle([deleteFlows({ cookieFilter: cookie }), ...flows]);
    return old.map(({ packets = 0 }) => packets);
  } catch (error) {
    // All flows are as they were, and it says which of the changes is wrong, and why.
    if (error instanceof SwitchError) console.error(error.failures);
    throw error;
  } finally {
    bridge.close();
  }
}
