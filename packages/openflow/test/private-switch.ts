/** A real Open vSwitch with a bridge `br0` and ports `p1` to `p9` of the same numbers. */
import { after, before } from 'node:test';
import { openSwitch, type SwitchConnection } from '@podwire/openflow';
import { OpenVSwitch } from '@podwire/testkit/openvswitch';

export interface UsedSwitch {
  real: OpenVSwitch;
  connection: SwitchConnection;
}

/**
 * For the tests of a file: starts a switch with a connection to its bridge before them, and ends both after them.
 * @param prepare is part of the start: two hooks of a file may run side by side
 */
export function useSwitch(prepare?: (real: OpenVSwitch) => Promise<unknown>): UsedSwitch {
  const used = {} as UsedSwitch;
  before(async () => {
    used.real = await OpenVSwitch.startWithBridge();
    used.connection = await openSwitch(used.real.socketOf('br0'));
    await prepare?.(used.real);
  });
  after(async () => {
    // A start that has failed leaves them out.
    const { connection, real } = used as Partial<UsedSwitch>;
    connection?.close();
    await real?.close();
  });
  return used;
}
