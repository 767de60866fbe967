/** The logical network of Kube-OVN for people: a tree in the first column of a table. Pure. */
import type { NetworkReport, PortReport, SubnetReport, VpcReport } from '@podwire/controller';
import { type Colors, printable } from '../io.js';
import { formatPlural } from '../render/counts.js';
import { renderTable } from '../render/table.js';
import { wrapText } from '../render/text.js';

export interface NetworkStyle {
  /** Cells of a line. */
  readonly width: number;
  readonly paint: Colors;
}

/** One line of the table, and what is wrong with it. */
interface Line {
  readonly depth: number;
  readonly name: string;
  readonly addresses?: readonly string[];
  readonly mac?: string;
  readonly node?: string | undefined;
  readonly note?: string;
  readonly faults: readonly string[];
}

export function renderNetwork(
  { vpcs, orphans, problems }: NetworkReport,
  { width, paint }: NetworkStyle,
): string[] {
  const lines = [...vpcs.flatMap(listVpc), ...listOrphans(orphans)];
  if (lines.length === 0)
    return ['there are no VPCs and no subnets: `podwire controller --northbound` makes the first'];
  const [title = '', ...rows] = renderTable(
    {
      head: ['NAME', 'ADDRESSES', { title: 'MAC', importance: -Infinity }, 'NODE', 'WAY OUT'],
      rows: lines.map(({ depth, name, addresses = [], mac = '', node = '', note = '' }) => [
        `${'  '.repeat(depth)}${printable(name)}`,
        addresses.join(', '),
        mac,
        node,
        note,
      ]),
    },
    paint,
    width,
  );
  const marked = lines.flatMap(({ depth, faults }, at) => [
    rows[at]!,
    ...faults.flatMap((fault) => markFault(fault, depth + 1, { width, paint })),
  ]);
  const more = problems.flatMap((problem) => markFault(problem, 0, { width, paint }));
  return [title, ...marked, ...(more.length === 0 ? [] : ['', ...more]), '', summarize({ vpcs, orphans })];
}

const markFault = (fault: string, depth: number, { width, paint }: NetworkStyle): string[] =>
  wrapText(`${'  '.repeat(depth)}✗ ${printable(fault)}`, width, 2 * depth + 2).map((line) => paint.red(line));

const listVpc = ({ name, isDefault, routes, subnets, drift }: VpcReport): Line[] => [
  { depth: 0, name: `vpc ${name}${isDefault ? ' (of the nodes)' : ''}`, faults: drift },
  ...routes.map((route) => ({ depth: 1, name: `route ${route}`, faults: [] })),
  ...subnets.flatMap((subnet) => listSubnet(subnet, 1)),
];

const listOrphans = (orphans: readonly SubnetReport[]): Line[] =>
  orphans.length === 0
    ? []
    : [{ depth: 0, name: '(no vpc)', faults: [] }, ...orphans.flatMap((subnet) => listSubnet(subnet, 1))];

const listSubnet = (subnet: SubnetReport, depth: number): Line[] => [
  {
    ...{ depth, name: `subnet ${subnet.name}`, addresses: subnet.cidrs, note: subnet.wayOut },
    faults: [...(subnet.fault === undefined ? [] : [subnet.fault]), ...subnet.drift],
  },
  ...subnet.ports.map((port) => describePort(port, depth + 1)),
];

const describePort = ({ pod, node, addresses, mac, drift }: PortReport, depth: number): Line =>
  pod === undefined
    ? { depth, name: `node ${node}`, addresses, mac, faults: drift }
    : { depth, name: `pod ${pod}`, addresses, mac, node, faults: drift };

const allSubnets = ({ vpcs, orphans }: Pick<NetworkReport, 'vpcs' | 'orphans'>): SubnetReport[] => [
  ...vpcs.flatMap(({ subnets }) => subnets),
  ...orphans,
];

/** Everything that is in the database otherwise than it shall be. */
export function countDrift(report: Pick<NetworkReport, 'vpcs' | 'orphans'>): number {
  const subnets = allSubnets(report);
  const parts = [...report.vpcs, ...subnets, ...subnets.flatMap(({ ports }) => ports)];
  return parts.reduce((sum, { drift }) => sum + drift.length, 0);
}

function summarize(report: Pick<NetworkReport, 'vpcs' | 'orphans'>): string {
  const ports = allSubnets(report).flatMap(({ ports: list }) => list);
  const pods = ports.filter(({ pod }) => pod !== undefined).length;
  const counts = [formatPlural(report.vpcs.length, 'VPC'), formatPlural(allSubnets(report).length, 'subnet')];
  const inside = [formatPlural(ports.length - pods, 'node'), formatPlural(pods, 'pod')];
  const drift = countDrift(report);
  const state = drift === 0 ? 'all of it' : `${formatPlural(drift, 'difference')} from what`;
  return `${[...counts, ...inside].join(', ')}: ${state} is in the northbound database`;
}
