import type { OvnFacts } from '@podwire/cluster-ovn';
import { PodwireError } from '@podwire/errors';
import { expect, it } from 'vitest';
import { describeNetwork } from '../src/ovn/report.js';

const distributed = { type: 'distributed' } as const;
const range = (part: number) => [{ cidr: `10.${part}.0.0/16`, gateway: `10.${part}.0.1` }];

const facts: OvnFacts = {
  vpcs: new Map([
    [
      'red',
      {
        isDefault: false,
        staticRoutes: [{ policy: 'policySrc', cidr: '10.2.0.0/24', nextHopIP: '10.2.0.9' }],
      },
    ],
    ['ovn-cluster', { isDefault: true, staticRoutes: [] }],
  ]),
  subnets: new Map([
    ['join', { vpc: 'ovn-cluster', ranges: range(0), egress: distributed }],
    ['blue', { vpc: 'ovn-cluster', ranges: range(1), egress: { type: 'centralized', nodes: [] } }],
    ['inner', { vpc: 'red', ranges: range(2), egress: distributed }],
    [
      'outer',
      { vpc: 'ovn-cluster', ranges: range(3), egress: distributed, underlay: { provider: 'net1', vlan: 10 } },
    ],
    [
      'lost',
      {
        vpc: 'none',
        ranges: range(4),
        egress: distributed,
        fault: new PodwireError('OVN_CONFLICT', 'no Vpc'),
      },
    ],
  ]),
  nodes: new Map([
    ['n1', { mac: '0a:00:00:00:00:01', joinAddresses: ['10.0.0.2'], addresses: ['192.0.2.1'] }],
  ]),
  pods: new Map(
    ['shop/web', 'shop/db'].map((id) => {
      const [namespace, name] = id.split('/') as [string, string];
      const rest = {
        subnet: 'blue',
        mac: '0a:00:00:00:00:02',
        addresses: ['10.1.0.2'],
        hasPortSecurity: false,
      };
      return [id, { namespace, name, ...rest }];
    }),
  ),
};

it('puts subnets below their VPCs, in the order of their names, and ports below these', () => {
  const { vpcs, orphans } = describeNetwork(facts, new Map(), []);
  const tree = vpcs.map(({ name, subnets }) => [name, ...subnets.map((subnet) => subnet.name)]);
  expect(tree).toEqual([
    ['ovn-cluster', 'blue', 'join', 'outer'],
    ['red', 'inner'],
  ]);
  const [blue, join] = vpcs[0]!.subnets;
  expect(blue!.ports.map(({ name, pod }) => [name, pod])).toEqual([
    ['db.shop', 'shop/db'],
    ['web.shop', 'shop/web'],
  ]);
  expect(join!.ports).toMatchObject([{ name: 'node-n1', node: 'n1', addresses: ['10.0.0.2'] }]);
  expect(orphans).toMatchObject([{ name: 'lost', fault: 'no Vpc' }]);
});

it('says how packets leave each subnet', () => {
  const { vpcs } = describeNetwork(facts, new Map(), []);
  const ways = vpcs.flatMap(({ subnets }) => subnets.map(({ name, wayOut }) => `${name}: ${wayOut}`));
  expect(ways).toEqual([
    'blue: nowhere: no gateway is there',
    'join: ',
    'outer: on net1, VLAN 10',
    'inner: by the routes of its VPC',
  ]);
  expect(vpcs[1]!.routes).toEqual(['from 10.2.0.0/24 via 10.2.0.9']);
});

it('has differences where they belong', () => {
  const drift = new Map(
    ['ovn-vpc/red', 'ovn-subnet/blue', 'ovn-node/n1', 'ovn-pod/shop/db'].map((scope) => [scope, [scope]]),
  );
  const { vpcs, problems } = describeNetwork(facts, drift, [
    new PodwireError('OVN_CONFLICT', 'x'),
    facts.subnets.get('lost')!.fault!,
  ]);
  const [cluster, red] = vpcs;
  const [blue, join] = cluster!.subnets;
  expect([red!.drift, blue!.drift, join!.ports[0]!.drift, blue!.ports[0]!.drift].flat()).toEqual([
    ...drift.keys(),
  ]);
  expect([cluster!.drift, join!.drift, blue!.ports[1]!.drift].flat()).toEqual([]);
  expect(problems).toEqual(['OVN_CONFLICT: x']);
});
