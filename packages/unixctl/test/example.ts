import { findControlSocket, findOutputs, openControl, readTrace } from '@podwire/unixctl';

/** The way of a packet through a bridge, such as `table 20: ip,nw_src=10.128.2.3`, with its outputs at the end. */
export async function followPacket(
  runDir: string,
  bridge: string,
  packet: string,
): Promise<readonly string[]> {
  const control = await openControl(await findControlSocket(runDir, 'ovs-vswitchd'));
  try {
    const trace = readTrace(await control.call('ofproto/trace', [bridge, packet], { timeout: 2_000 }));
    const steps = trace.passes.flatMap((pass) => pass.steps);
    return [
      ...steps.map(({ table, match, miss }) => `table ${table}: ${miss ?? match}`),
      ...findOutputs(trace).map(({ port }) => `out of port ${port}`),
    ];
  } finally {
    control.close();
  }
}
