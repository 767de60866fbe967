/** Rates of a port, in the columns in which Kube-OVN has them. What a port sends is limited by a meter of the controller as well. */
import type { OvsPort } from '@podwire/backend-ovsdb/resources';
import type { Resource } from '@podwire/engine';
import type { Bandwidth } from '@podwire/network-contract';
import { planPortPolicing, planPortQos } from '@podwire/network-traffic/port-bandwidth';

/** @param bandwidth as the pod or the node sees the directions: the switch sees the other ones */
export function planLimitedPort(port: OvsPort, bandwidth: Bandwidth = {}): Resource[] {
  const qos = planPortQos(port.name, bandwidth);
  const policing = planPortPolicing(withBurst(bandwidth));
  return [
    ...qos,
    {
      ...{ ...port, ...(qos.length === 0 ? {} : { qos: port.name }) },
      interfaces: port.interfaces.map((each) => ({ ...each, ...policing })),
    },
  ];
}

/** As Kube-OVN has it, and the meter of the controller (docs/decisions/0087-egress-by-meter.md). */
const withBurst = (bandwidth: Bandwidth): Bandwidth => ({
  egressBurst: (bandwidth.egressRate ?? 0) * 0.8,
  ...bandwidth,
});
