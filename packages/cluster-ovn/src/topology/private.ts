/** ACLs of a private subnet: who reaches its pods. */
import type { Acl } from '@podwire/backend-ovsdb/northbound/resources';
import type { Read } from '@podwire/planner';
import type { OvnSubnet, SubnetRange } from '../contract.js';
import { JOIN_SUBNET, localnetName, switchSideName } from './names.js';
import { isSameFamily, protocolOf, vendor } from './rows.js';

/** The higher decides. As in Kube-OVN. */
const priorities = { fromNodes: 3_000, allow: 1_001, drop: 1_000 } as const;

/** None for a subnet that is not private. Answers to what its pods have sent pass without one. */
export function planPrivate(name: string, subnet: OvnSubnet, read: Read): Acl[] {
  const { allowedRanges, ranges } = subnet;
  if (allowedRanges === undefined) return [];
  const allowed = [...new Set([...ranges.map(({ cidr }) => cidr), ...allowedRanges])];
  return [
    aclOf(name, `to ${name}`, {
      ...{ priority: priorities.drop, match: 'ip', action: 'drop' },
      ...{ log: true, severity: 'warning', logName: name },
    }),
    allowOut(name, subnet),
    ...allowed.flatMap((from) => allowFrom(name, ranges, from, priorities.allow)),
    ...listNodeRanges(subnet, read).flatMap((from) => allowFrom(name, ranges, from, priorities.fromNodes)),
  ];
}

const aclOf = (
  subnet: string,
  name: string,
  rest: Pick<Acl, 'priority' | 'match' | 'action'> & Partial<Acl>,
): Acl => ({
  ...{ kind: 'acl', name, on: { switch: subnet }, direction: 'to-lport', externalIds: vendor },
  ...rest,
});

/** ovn-northd 23.03 applies ACLs to what leaves the switch, too: without this one pods reach nothing outside. */
function allowOut(name: string, { vpc, underlay }: OvnSubnet): Acl {
  const port = underlay === undefined ? switchSideName(name, vpc) : localnetName(name);
  const match = `outport == "${port}"`;
  return aclOf(name, `from ${name}`, { priority: priorities.allow, match, action: 'allow' });
}

/** None where the subnet has no range of the family. */
const allowFrom = (subnet: string, ranges: readonly SubnetRange[], from: string, priority: number): Acl[] =>
  ranges
    .filter(({ cidr }) => isSameFamily(cidr, from))
    .map(({ cidr }) =>
      aclOf(subnet, `to ${subnet} from ${from} (${priority})`, {
        ...{ priority, action: 'allow-related' },
        match: `${protocolOf(cidr)}.src == ${from} && ${protocolOf(cidr)}.dst == ${cidr}`,
      }),
    );

/** Nodes send kubelet's probes. In another VPC, and on a network outside, others may have their addresses. */
function listNodeRanges({ vpc, underlay }: OvnSubnet, read: Read): string[] {
  const join = read(`ovn-subnet/${JOIN_SUBNET}`);
  return join === undefined || underlay !== undefined || vpc !== join.vpc
    ? []
    : join.ranges.map(({ cidr }) => cidr);
}
