/** Plans of whole clusters. */
import { describe, expect, test } from 'vitest';
import type { UnreadableObject } from '@podwire/objects';
import { planCluster, type SdnCluster } from '../src/index.js';
import {
  assignSubnet,
  clusterNetwork,
  createCluster,
  describeChange,
  fixedVnidHost,
  hostSubnet,
  netNamespace,
  node,
  nodeUid,
  problemsOf,
  settle,
  subnetOf,
  subnetsOf,
  vnidsOf,
} from './support.js';

const changesOf = (cluster: SdnCluster): string[] => planCluster(cluster).changes.map(describeChange);

const unreadable = (kind: string, name: string, content: unknown): UnreadableObject => ({
  reference: { apiVersion: 'network.openshift.io/v1', kind, name },
  revision: 1,
  problems: [{ file: name, line: 1, message: 'hostIP: is missing' }],
  content,
});

const withUnreadable = (cluster: SdnCluster, ...list: readonly UnreadableObject[]): SdnCluster => ({
  ...cluster,
  objects: { ...cluster.objects, unreadable: list },
});

test('a new cluster gets a subnet for each node and a VNID for each namespace', () => {
  const { cluster, plan } = settle(createCluster([], { namespaces: ['b', 'a'], nodes: [node(2), node(1)] }));
  expect(plan.changes.map(describeChange)).toEqual([
    'create HostSubnet n1: its node is new',
    'create HostSubnet n2: its node is new',
    'create NetNamespace a: its namespace is new',
    'create NetNamespace b: its namespace is new',
    'create NetNamespace default: its namespace is new',
  ]);
  expect(subnetsOf(cluster)).toEqual({ n1: '10.128.0.0/23', n2: '10.129.0.0/23' });
  expect(vnidsOf(cluster)).toEqual({ default: 0, a: 10, b: 11 });
  expect(cluster.objects.hostSubnets[0]?.object).toMatchObject({
    host: 'n1',
    hostIP: '192.168.0.2',
    metadata: { annotations: { [nodeUid]: 'uid-1' } },
  });
  expect(planCluster(cluster)).toMatchObject({ changes: [], problems: [] });
});

test('without a ClusterNetwork nothing is planned', () => {
  const cluster = createCluster([], { namespaces: ['a'], nodes: [node(1)] });
  const plan = planCluster({ ...cluster, objects: { ...cluster.objects, clusterNetwork: undefined } });
  expect([plan.changes, problemsOf(plan)]).toEqual([[], [expect.stringContaining('OBJECT_UNKNOWN')]]);
});

test('searches go on behind what was handed out last, also for what comes back in the meantime', () => {
  const first = settle(createCluster([], { namespaces: ['a', 'b'], nodes: [node(1), node(2)] }));
  const left = settle({ ...first.cluster, namespaces: ['b'], nodes: [node(2)] }, first.plan.cursors);
  const { cluster } = settle(
    { ...left.cluster, namespaces: ['b', 'c'], nodes: [node(2), node(3)] },
    left.plan.cursors,
  );
  expect(vnidsOf(cluster)).toEqual({ default: 0, b: 11, c: 12 });
  expect(subnetsOf(cluster)).toEqual({ n2: '10.129.0.0/23', n3: '10.130.0.0/23' });
});

describe('namespaces', () => {
  test('with the plugin without isolation have no NetNamespaces, and those that are there are left alone', () => {
    const cluster = createCluster([clusterNetwork('subnet'), netNamespace('a', 10)], { namespaces: ['b'] });
    expect(changesOf(cluster)).toEqual([]);
  });

  test('that share a VNID leave it when the last has gone', () => {
    const objects = [netNamespace('default', 0), netNamespace('a', 10), netNamespace('b', 10)];
    const { cluster } = settle(createCluster(objects, { namespaces: ['b', 'c'] }));
    expect(vnidsOf(cluster)).toEqual({ default: 0, b: 10, c: 11 });
    expect(vnidsOf(settle({ ...cluster, namespaces: ['c', 'd'] }).cluster)).toEqual({
      default: 0,
      c: 11,
      d: 10,
    });
  });

  test('that share a VNID are reported where VNIDs are what policies know them by', () => {
    const objects = [
      netNamespace('default', 0),
      netNamespace('a', 10),
      netNamespace('b', 10),
      netNamespace('c', 10),
    ];
    const namespaces = ['a', 'b', 'c'];
    expect(planCluster(createCluster(objects, { namespaces })).problems).toEqual([]);
    expect(
      problemsOf(planCluster(createCluster([clusterNetwork('networkpolicy'), ...objects], { namespaces }))),
    ).toEqual(['SDN_CONFLICT several namespaces have the VNID 10: a, b and 1 more']);
  });

  test('keep the VNID that was given by hand', () => {
    const objects = [
      netNamespace('default', 0),
      netNamespace('openshift-dns', 1),
      netNamespace('z', 16_777_215),
    ];
    expect(changesOf(createCluster(objects, { namespaces: ['openshift-dns', 'z'] }))).toEqual([]);
  });

  test('whose NetNamespace cannot be read are left alone, and their VNID is not handed out', () => {
    const cluster = withUnreadable(
      createCluster([], { namespaces: ['a', 'b'] }),
      unreadable('NetNamespace', 'a', { netid: 10 }),
      unreadable('NetNamespace', 'x', { netid: '11' }),
      unreadable('NetNamespace', 'y', undefined),
    );
    const plan = planCluster(cluster);
    expect(vnidsOf(settle(cluster).cluster)).toEqual({ default: 0, b: 11 });
    expect(problemsOf(plan)[0]).toBe(
      'OBJECT_INVALID network.openshift.io/v1 NetNamespace a: hostIP: is missing',
    );
  });
});

describe('nodes', () => {
  test('that are gone leave their subnets, those of others stay', () => {
    const external = hostSubnet('f5', '10.131.0.0/23');
    const cluster = createCluster(
      [subnetOf(node(1), '10.128.0.0/23'), subnetOf(node(2), '10.129.0.0/23'), external],
      {
        nodes: [node(2)],
      },
    );
    expect(changesOf(cluster)[0]).toBe('delete HostSubnet n1: its node is gone');
    expect(subnetsOf(settle(cluster).cluster)).toEqual({ n2: '10.129.0.0/23', f5: '10.131.0.0/23' });
  });

  test('that come again as others get another subnet', () => {
    const cluster = createCluster([subnetOf(node(1), '10.128.0.0/23')], { nodes: [node(1, 'another')] });
    const { plan, cluster: after } = settle(cluster, { vnid: 10, subnets: { '10.128.0.0/14': 1 } });
    expect(plan.changes.map(describeChange).slice(0, 2)).toEqual([
      'delete HostSubnet n1: another node has the name of its node',
      'create HostSubnet n1: its node is new',
    ]);
    expect(subnetsOf(after)).toEqual({ n1: '10.129.0.0/23' });
  });

  test('with another address keep their subnet', () => {
    const nodes = [{ ...node(1), address: '192.168.7.7' }];
    const { plan, cluster } = settle(createCluster([subnetOf(node(1), '10.128.0.0/23')], { nodes }));
    expect(plan.changes.map(describeChange)[0]).toBe(
      'change HostSubnet n1: the address of its node was 192.168.0.2',
    );
    expect(cluster.objects.hostSubnets[0]?.object).toMatchObject({
      subnet: '10.128.0.0/23',
      hostIP: '192.168.7.7',
    });
  });

  test('of an older version become known by their identity', () => {
    const { plan, cluster } = settle(
      createCluster([hostSubnet('n1', '10.128.0.0/23', { hostIP: '192.168.0.2' })], { nodes: [node(1)] }),
    );
    expect(plan.changes.map(describeChange)[0]).toBe('change HostSubnet n1: its node is known now');
    expect(cluster.objects.hostSubnets[0]?.object).toEqual(subnetOf(node(1), '10.128.0.0/23'));
  });

  test.each<[string, string | undefined, string]>([
    ['that is missing', undefined, 'is not known'],
    ['of IPv6', 'fd00::1', 'fd00::1 is no IPv4 address'],
    ['of loopback', '127.0.0.1', '127.0.0.1 is a loopback address'],
    ['of a pod', '10.129.0.7', '10.129.0.7 lies in 10.128.0.0/14, which pods or services have'],
    ['of a service', '172.30.0.1', '172.30.0.1 lies in 172.30.0.0/16, which pods or services have'],
  ])('with an address %s get no subnet, and keep the one that they have', (_, address, fault) => {
    const nodes = [1, 2].map((each) => ({ ...node(each), address }));
    const cluster = createCluster([subnetOf(node(1), '10.128.0.0/23'), netNamespace('default', 0)], {
      nodes,
    });
    const plan = planCluster(cluster);
    expect(plan.changes).toEqual([]);
    expect(problemsOf(plan)).toEqual(
      ['n1', 'n2'].map((name) => `SDN_CONFLICT the address of ${name} ${fault}`),
    );
  });

  test('without a free subnet are reported, and get one when another has gone', () => {
    const network = clusterNetwork('subnet', ['10.128.0.0/24', 7]);
    const { plan, cluster } = settle(createCluster([network], { nodes: [node(1), node(2), node(3)] }));
    expect(problemsOf(plan)).toEqual(['SDN_EXHAUSTED no subnet is free for n3 in 10.128.0.0/24']);
    expect(plan.problems[0]?.action).toContain('Add a range');
    const next = settle({ ...cluster, nodes: [node(2), node(3)] });
    expect(subnetsOf(next.cluster)).toEqual({ n2: '10.128.0.128/25', n3: '10.128.0.0/25' });
  });

  test('whose HostSubnet cannot be read are left alone, and what it has is not handed out', () => {
    const cluster = withUnreadable(
      createCluster([], { nodes: [node(1), node(2)] }),
      unreadable('HostSubnet', 'n1', { subnet: '10.128.0.0/23' }),
      unreadable('HostSubnet', 'n9', { subnet: 'x' }),
    );
    expect(subnetsOf(settle(cluster).cluster)).toEqual({ n2: '10.129.0.0/23' });
  });
});

describe('a subnet that is asked for', () => {
  const asking = hostSubnet('f5', '', {}, { [assignSubnet]: 'true', [fixedVnidHost]: '0', team: 'a' });

  test('is assigned, and the request is gone', () => {
    const { plan, cluster } = settle(createCluster([asking], { nodes: [node(1)] }));
    expect(plan.changes.map(describeChange)[0]).toBe('change HostSubnet f5: it has asked for a subnet');
    expect(cluster.objects.hostSubnets.find(({ object }) => object.host === 'f5')?.object).toEqual(
      hostSubnet('f5', '10.128.0.0/23', {}, { [fixedVnidHost]: '0', team: 'a' }),
    );
    expect(planCluster(cluster).changes).toEqual([]);
  });

  test('replaces the one that it has', () => {
    const again = hostSubnet('f5', '10.128.0.0/23', {}, { [assignSubnet]: 'true' });
    expect(subnetsOf(settle(createCluster([again], { nodes: [node(1)] })).cluster)).toEqual({
      f5: '10.129.0.0/23',
      n1: '10.130.0.0/23',
    });
  });

  test('stays asked for while none is free', () => {
    const network = clusterNetwork('subnet', ['10.128.0.0/24', 8]);
    const plan = planCluster(createCluster([network, hostSubnet('a', '10.128.0.0/24'), asking]));
    expect([plan.changes, problemsOf(plan)]).toEqual([
      [],
      ['SDN_EXHAUSTED no subnet is free for f5 in 10.128.0.0/24'],
    ]);
  });
});

test('subnets that contradict the cluster or each other are reported, and left alone', () => {
  const objects = [
    clusterNetwork('subnet'),
    hostSubnet('a', '10.128.0.0/22'),
    hostSubnet('b', '10.128.0.0/24'),
    hostSubnet('c', '10.128.3.0/24'),
    hostSubnet('d', '10.132.0.0/23'),
    hostSubnet('e', '10.128.4.0/23', { hostIP: '10.128.0.1' }),
  ];
  const { plan, cluster } = settle(createCluster(objects, { nodes: [node(1)] }));
  expect(problemsOf(plan)).toEqual([
    'SDN_CONFLICT the address of e 10.128.0.1 lies in 10.128.0.0/14, which pods or services have',
    'SDN_CONFLICT the subnet 10.132.0.0/23 of d lies in no range of the cluster: 10.128.0.0/14',
    'SDN_CONFLICT the subnets of a and b overlap: 10.128.0.0/22, 10.128.0.0/24',
    'SDN_CONFLICT the subnets of a and c overlap: 10.128.0.0/22, 10.128.3.0/24',
  ]);
  expect(subnetsOf(cluster)['n1']).toBe('10.129.0.0/23');
});
