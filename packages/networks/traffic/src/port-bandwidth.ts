import type { OvsInterface } from '@podwire/backend-ovsdb/resources';
import type { Resource } from '@podwire/engine';
import type { Bandwidth } from '@podwire/network-contract';

/**
 * Rates in the database of Open vSwitch. It owns the qdiscs of its ports, and deletes others as soon as it looks at a port, so
 * those of the other models would not stay.
 */
export function planPortQos(name: string, { ingressRate = 0 }: Bandwidth = {}): Resource[] {
  if (ingressRate === 0) return [];
  return [{ kind: 'ovs-qos', name, type: 'linux-htb', otherConfig: { 'max-rate': String(ingressRate) } }];
}

/** Runtimes that ask for no burst pass this or more; Open vSwitch has a default of its own for 0. */
const UNSPECIFIED = 2_147_483_647;

/** Drops packets of the pod above its rate. @returns kbit/s and kbit */
export function planPortPolicing({ egressRate = 0, egressBurst = 0 }: Bandwidth = {}): Pick<
  OvsInterface,
  'ingressPolicingRate' | 'ingressPolicingBurst'
> {
  if (egressRate === 0) return {};
  const burst = egressBurst >= UNSPECIFIED ? 0 : Math.ceil(egressBurst / 1_000);
  return {
    ingressPolicingRate: Math.max(Math.round(egressRate / 1_000), 1),
    ...(burst === 0 ? {} : { ingressPolicingBurst: burst }),
  };
}
