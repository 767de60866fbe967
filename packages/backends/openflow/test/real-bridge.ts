/** The bridge `br0` of a real ovs-vswitchd. */
import {
  deleteAllGroups,
  deleteFlows,
  deleteMeter,
  openSwitch,
  type SwitchConnection,
} from '@podwire/openflow';
import type { OpenVSwitch } from '@podwire/testkit/openvswitch';

export const connectTo = (real: OpenVSwitch): Promise<SwitchConnection> => openSwitch(real.socketOf('br0'));

export async function empty(real: OpenVSwitch): Promise<void> {
  const connection = await connectTo(real);
  const meters = await connection.dump('meterConfig');
  await connection.send([deleteFlows(), deleteAllGroups(), ...meters.map(({ id }) => deleteMeter(id))]);
  connection.close();
}
