import { describe, expect, test } from 'vitest';
import {
  type GatewaySubnet,
  planGateway,
  planGatewayNode,
  planGatewayPod,
  planGatewaySubnet,
} from '@podwire/network-ovn';
import { egress, node, podOf, subnetOf } from './facts.js';

type Planned = ReturnType<typeof planGatewayNode>;

/** One line for each resource: `subnets4 10.16.0.0/16`, `route 10.16.0.0/16 via 100.64.0.1 dev ovn0`. */
const linesOf = (resources: Planned): string[] =>
  resources.map((one) => {
    if (one.kind === 'nft-element') {
      const value = one.value?.map((part) => part.value) ?? [];
      return [one.set, ...one.key.map((part) => part.value), ...value].join(' ');
    }
    if (one.kind === 'route')
      return `route ${one.destination} via ${one.gateway} dev ${one.link} table ${one.table ?? 'main'}`;
    return one.kind === 'rule' ? `rule ${one.priority} from ${one.from} table ${one.table}` : one.kind;
  });

const inside = (number: number): string[] => [
  `subnets4 10.${number}.0.0/16`,
  `subnets6 fd00:10:${number}::/64`,
  `route 10.${number}.0.0/16 via 100.64.0.1 dev ovn0 table main`,
  `route fd00:10:${number}::/64 via fd00:100:64::1 dev ovn0 table main`,
];

const waysOut = [
  'route 0.0.0.0/0 via 192.0.2.1 dev eth0 table 1021',
  'route ::/0 via 2001:db8:2::1 dev eth0 table 1021',
];

describe('a subnet', () => {
  const [here, there] = [{ node: 'node1' }, { node: 'node2' }];
  const cases: Readonly<Record<string, readonly [GatewaySubnet, readonly string[]]>> = {
    'is inside, and has a way through the router': [subnetOf(16), []],
    'leaves translation to its pods where it is distributed': [subnetOf(16, 'nat'), []],
    'is translated on its gateway': [
      subnetOf(16, 'nat', [there, here]),
      ['natsubnets4 10.16.0.0/16', 'natsubnets6 fd00:10:16::/64'],
    ],
    'is not translated on a node that is not its gateway': [subnetOf(16, 'nat', [there]), []],
    'is not translated on its gateway without natOutgoing': [subnetOf(16, undefined, [here]), []],
    'leaves with the address that is named, in the family that has one': [
      subnetOf(16, 'nat', [
        { ...there, address: '192.0.2.9' },
        { ...here, address: '192.0.2.77' },
      ]),
      ['sources4 10.16.0.0/16 192.0.2.77', 'natsubnets6 fd00:10:16::/64'],
    ],
    'leaves with one named address of each family': [
      subnetOf(16, 'nat', [
        { ...here, address: '2001:db8:2::77' },
        { ...here, address: '192.0.2.77' },
      ]),
      ['sources4 10.16.0.0/16 192.0.2.77', 'sources6 fd00:10:16::/64 2001:db8:2::77'],
    ],
    'has a way to its gateway outside on each node where it is distributed': [subnetOf(16, egress), waysOut],
    'has rules for its gateway outside on its gateways': [
      subnetOf(16, egress, [here]),
      [...waysOut, 'rule 1021 from 10.16.0.0/16 table 1021', 'rule 1021 from fd00:10:16::/64 table 1021'],
    ],
    'has nothing of its gateway outside on other nodes': [subnetOf(16, egress, [there]), []],
    'has rules only in the family of its gateway outside': [
      subnetOf(16, { ...egress, addresses: ['192.0.2.1'] }, [here]),
      [waysOut[0]!, 'rule 1021 from 10.16.0.0/16 table 1021'],
    ],
  };
  test.each(Object.entries(cases))('%s', (_, [subnet, more]) => {
    expect(linesOf(planGatewaySubnet(subnet, node))).toEqual([...inside(16), ...more]);
  });

  test('of a family that `join` does not have is inside, without a way', () => {
    const ipv4 = { ...node, join: node.join.slice(0, 1) };
    expect(linesOf(planGatewaySubnet(subnetOf(16), ipv4))).toEqual(inside(16).slice(0, 3));
  });
});

describe('a pod', () => {
  const cases: Readonly<Record<string, readonly [GatewaySubnet, readonly string[]]>> = {
    'is one element of each family where its own node translates': [
      subnetOf(16, 'nat'),
      ['natpods4 10.16.0.5', 'natpods6 fd00:10:16::5'],
    ],
    'is nothing where its subnet is not translated': [subnetOf(16), []],
    'is nothing where its subnet is centralized': [subnetOf(16, 'nat', [{ node: 'node1' }]), []],
    'is a rule of each family where its subnet has a gateway outside': [
      subnetOf(16, egress),
      ['rule 1021 from 10.16.0.5/32 table 1021', 'rule 1021 from fd00:10:16::5/128 table 1021'],
    ],
    'is nothing where a gateway outside takes the whole subnet': [
      subnetOf(16, egress, [{ node: 'node1' }]),
      [],
    ],
  };
  test.each(Object.entries(cases))('%s', (_, [subnet, lines]) => {
    expect(linesOf(planGatewayPod(podOf(16), subnet))).toEqual(lines);
  });
});

describe('the node', () => {
  const bodyOf = (one = node): string => {
    const [table] = planGatewayNode(one);
    return table?.kind === 'nft-table' ? table.body : '';
  };

  test('has a table of its own, and the ranges that no subnet of pods has', () => {
    expect(planGatewayNode(node)[0]).toMatchObject({ family: 'inet', name: 'podwire_ovn' });
    expect(linesOf(planGatewayNode(node))).toEqual([
      ...['nft-table', 'services4 10.96.0.0/12', 'services6 fd00:10:96::/112'],
      ...['subnets4 100.64.0.0/16', 'subnets6 fd00:100:64::/64', 'subnets4 169.254.20.10/32'],
    ]);
  });

  test('makes segments fit the tunnel: 40 bytes less than its MTU in IPv4, 60 in IPv6', () => {
    expect(bodyOf()).toContain('oifname "eth0" meta nfproto ipv4 tcp flags & (syn | rst) == syn');
    expect(bodyOf().match(/maxseg size set \d+/g)).toEqual(['maxseg size set 1360', 'maxseg size set 1340']);
    const { tunnel: _, ...without } = node;
    expect(bodyOf(without)).not.toContain('maxseg');
  });

  test('translates services to its address in the families that it has', () => {
    expect(bodyOf().match(/snat ip6? to [\d:.a-z]+$/gm)).toEqual([
      'snat ip to 192.0.2.10',
      'snat ip6 to 2001:db8:2::10',
    ]);
    expect(bodyOf({ ...node, addresses: ['192.0.2.10'] })).not.toContain('snat ip6 to 2001');
  });

  test('keeps its chains when services change', () => {
    expect(bodyOf({ ...node, services: [], localDns: [], join: [] })).toBe(bodyOf());
  });
});

test('the whole list is that of the node, its subnets and its pods, without pods of subnets that are gone', () => {
  const subnets = [subnetOf(16, 'nat'), subnetOf(17)];
  expect(planGateway(node, subnets, [podOf(16), podOf(17), podOf(18)])).toEqual([
    ...planGatewayNode(node),
    ...subnets.flatMap((subnet) => planGatewaySubnet(subnet, node)),
    ...planGatewayPod(podOf(16), subnets[0]!),
  ]);
});
