/** Limits of what ports send and get: meters of OpenFlow, on whichever node the port is. */
import type { QosRule } from '@podwire/backend-ovsdb/northbound/resources';

type Limited = Pick<QosRule, 'switch' | 'externalIds'> & {
  /** The logical port. */
  readonly port: string;
  /** bit/s; undefined: no limit. */
  readonly rate: number | undefined;
};

/** The name is that of the port. */
export const limitFrom = ({ port, ...rest }: Limited): QosRule[] =>
  planLimit(rest, { name: port, direction: 'from-lport', match: `inport == "${port}"` });

export const limitTo = ({ port, ...rest }: Limited): QosRule[] =>
  planLimit(rest, { name: `to ${port}`, direction: 'to-lport', match: `outport == "${port}"` });

const priority = 1_000;

/** kbit/s (ovn-nb(5)) */
const most = 2 ** 32 - 1;

/** The burst is 8/10 of the rate, as Kube-OVN has it for policing: with less, TCP does not come to the rate. */
function planLimit(
  { rate: bits, ...place }: Omit<Limited, 'port'>,
  rule: Pick<QosRule, 'name' | 'direction' | 'match'>,
): QosRule[] {
  if (bits === undefined) return [];
  const rate = Math.min(Math.max(Math.round(bits / 1_000), 1), most);
  const bandwidth = { rate, burst: Math.ceil(rate * 0.8) };
  return [{ kind: 'qos-rule', ...rule, ...place, priority, bandwidth }];
}
