import { planAddresses } from '@podwire/cluster-ovn';
import { describe, expect, it } from 'vitest';
import { addressesOf, asking, blue, clusterOf, join, podOf, problemsOf, settle } from './address-cluster.js';

const dual = {
  ...blue,
  ranges: [...blue.ranges, { cidr: 'fd17::/64', gateway: 'fd17::1' }],
};

describe('a pod', () => {
  it('gets the first free address of its subnet, and annotations that say so', () => {
    const { plan } = settle(clusterOf({ pods: [podOf('shop/web')] }));
    expect(plan.changes[0]).toEqual({
      ...{ type: 'annotate', what: 'pod', id: 'shop/web', uid: 'uid of shop/web' },
      annotations: {
        'ovn.kubernetes.io/ip_address': '10.17.0.2',
        'ovn.kubernetes.io/mac_address': expect.stringMatching(/^0a(:[0-9a-f]{2}){5}$/) as string,
        'ovn.kubernetes.io/cidr': '10.17.0.0/29',
        'ovn.kubernetes.io/gateway': '10.17.0.1',
        'ovn.kubernetes.io/logical_switch': 'blue',
        'ovn.kubernetes.io/logical_router': 'ovn-cluster',
        'ovn.kubernetes.io/network_type': 'geneve',
        'ovn.kubernetes.io/pod_nic_type': 'veth-pair',
        'ovn.kubernetes.io/allocated': 'true',
      },
    });
    expect(plan.changes[1]).toMatchObject({
      type: 'put-ip',
      ip: { name: 'web.shop', podName: 'web', subnet: 'blue', addresses: ['10.17.0.2'] },
    });
    expect(problemsOf(plan)).toEqual([]);
  });

  it('of a subnet of both families gets an address of each', () => {
    const { plan } = settle(clusterOf({ subnets: [dual], pods: [podOf('shop/web')] }));
    expect(plan.changes[0]).toMatchObject({
      annotations: asking({
        addresses: '10.17.0.2,fd17::2',
        cidr: '10.17.0.0/29,fd17::/64',
        gateway: '10.17.0.1,fd17::1',
      }),
    });
  });

  it('on a network outside learns its provider and VLAN, and has no router', () => {
    const outside = { ...blue, underlay: { provider: 'net1', vlan: 10 } };
    const [change] = planAddresses(clusterOf({ subnets: [outside], pods: [podOf('shop/web')] })).changes;
    expect(change).toMatchObject({
      annotations: asking({ networkType: 'vlan', vlan: '10', provider: 'net1' }),
    });
    expect(change).not.toHaveProperty(['annotations', 'ovn.kubernetes.io/logical_router']);
  });

  it('is told why in words that fit into its record, whatever it asks for', () => {
    const asked = asking({ subnet: 'x'.repeat(16_340) });
    const [refusal] = planAddresses(clusterOf({ pods: [podOf('shop/web', { annotations: asked })] })).changes;
    const { annotations } = refusal as { annotations: Record<string, string> };
    expect(annotations['podwire/problem']).toMatch(/^OVN_CONFLICT: /);
    expect(annotations['podwire/problem']).toHaveLength(1_000);
  });

  it('without addresses is told why, once, and no more when it has some', () => {
    const waiting = podOf('shop/web', { annotations: asking({ addresses: '192.0.2.77' }) });
    const [refusal] = planAddresses(clusterOf({ pods: [waiting] })).changes;
    expect(refusal).toMatchObject({
      ...{ type: 'annotate', id: 'shop/web' },
      annotations: { 'podwire/problem': expect.stringMatching(/^OVN_CONFLICT: .*192\.0\.2\.77/) as string },
    });
    const told = {
      ...waiting,
      annotations: { ...waiting.annotations, ...(refusal as { annotations: object }).annotations },
    };
    expect(planAddresses(clusterOf({ pods: [told] })).changes).toEqual([]);
    const { 'ovn.kubernetes.io/ip_address': _, ...annotations } = told.annotations as Record<string, string>;
    const [answer] = planAddresses(clusterOf({ pods: [{ ...told, annotations }] })).changes;
    expect(answer).toMatchObject({ annotations: asking({ addresses: '10.17.0.2' }) });
    expect(answer).toHaveProperty(['annotations', 'podwire/problem'], '');
  });

  it('keeps what it has, and nothing is done about it again', () => {
    const { cluster } = settle(clusterOf({ pods: [podOf('shop/web'), podOf('shop/db')] }));
    expect(planAddresses(cluster)).toMatchObject({ changes: [], problems: [] });
  });

  it.each([
    ['that it names', { annotations: asking({ subnet: 'red' }) }, '10.18.0.2'],
    ['of its namespace', { namespace: 'shop' }, '10.19.0.2'],
    ['that is the default one', { namespace: 'other' }, '10.17.0.2'],
  ])('is in the subnet %s', (_, pod, address) => {
    const subnetOf = (name: string, part: number, namespaces: string[]) => ({
      ...{ ...blue, name, namespaces, isDefault: false },
      ranges: [{ cidr: `10.${part}.0.0/24`, gateway: `10.${part}.0.1` }],
    });
    const subnets = [subnetOf('red', 18, []), subnetOf('green', 19, ['shop']), blue];
    const { cluster } = settle(clusterOf({ subnets, pods: [podOf('shop/web', pod)] }));
    expect(addressesOf(cluster)).toEqual([`${cluster.pods[0]!.namespace}/web ${address}`]);
  });

  it('that comes when an address is free again gets it last', () => {
    const first = settle(clusterOf({ pods: [podOf('a/1'), podOf('a/2')] }));
    const gone = { ...first.cluster, pods: [first.cluster.pods[1]!, podOf('a/3')] };
    const second = settle(gone, first.cursors);
    expect(addressesOf(second.cluster)).toEqual(['a/2 10.17.0.3', 'a/3 10.17.0.4']);
    const pods = [...second.cluster.pods, podOf('a/4'), podOf('a/5'), podOf('a/6')];
    const third = settle({ ...second.cluster, pods }, second.cursors);
    expect(addressesOf(third.cluster).slice(2)).toEqual(['a/4 10.17.0.5', 'a/5 10.17.0.6', 'a/6 10.17.0.2']);
  });

  it('without a subnet, and one for whom nothing is free, are problems and stop no other', () => {
    const pods = ['a/1', 'a/2', 'a/3', 'a/4', 'a/5', 'a/6'].map((id) => podOf(id));
    const lost = podOf('a/0', { annotations: asking({ subnet: 'none' }) });
    const { plan, cluster } = settle(clusterOf({ pods: [lost, ...pods] }));
    expect(problemsOf(plan)).toEqual([
      'OVN_CONFLICT pod a/0: ovn.kubernetes.io/logical_switch: there is no subnet none',
      'OVN_EXHAUSTED no address is free for pod a/6 in subnet blue (10.17.0.0/29)',
    ]);
    expect(addressesOf(cluster)[5]).toBe('a/5 10.17.0.6');
    const none = settle(clusterOf({ subnets: [join], pods: [podOf('a/1')] }));
    expect(problemsOf(none.plan)).toEqual([
      'OVN_CONFLICT pod a/1: no subnet is for namespace a, and none is the default one',
    ]);
  });

  it('has no address that is excluded, or that a node has', () => {
    const subnet = { ...blue, excludeIps: ['10.17.0.2..10.17.0.3', 'fd00::1'] };
    const node = { name: 'n1', annotations: {}, addresses: ['10.17.0.4'] };
    const { cluster } = settle(
      clusterOf({ subnets: [subnet, join], nodes: [node], pods: [podOf('a/1'), podOf('a/2'), podOf('a/3')] }),
    );
    expect(addressesOf(cluster)).toEqual(['a/1 10.17.0.5', 'a/2 10.17.0.6', 'a/3 -']);
  });

  it('that has ended needs no address any more', () => {
    const { cluster } = settle(clusterOf({ pods: [podOf('a/1')] }));
    const ended = { ...cluster, pods: [{ ...cluster.pods[0]!, hasEnded: true }, podOf('a/2')] };
    const { plan } = settle(ended);
    expect(plan.changes).toMatchObject([
      { type: 'delete-ip', name: '1.a', reason: 'its pod has ended' },
      { type: 'annotate', id: 'a/2', annotations: asking({ addresses: '10.17.0.2' }) },
      { type: 'put-ip' },
    ]);
  });

  it('of the same name as one before is another pod', () => {
    const { cluster, cursors } = settle(clusterOf({ pods: [podOf('a/1')] }));
    const { plan } = settle({ ...cluster, pods: [podOf('a/1', { uid: 'new' })] }, cursors);
    expect(plan.changes).toMatchObject([
      { type: 'delete-ip', name: '1.a', reason: 'its pod is another one' },
      { type: 'annotate', uid: 'new', annotations: asking({ addresses: '10.17.0.3' }) },
      { type: 'put-ip', ip: { podUid: 'new' } },
    ]);
  });

  it('whose annotations were lost gets from its IP object what it had', () => {
    const { cluster } = settle(clusterOf({ pods: [podOf('a/1'), podOf('a/2')] }));
    const [first, second] = cluster.pods as [(typeof cluster.pods)[0], (typeof cluster.pods)[0]];
    const pods = [podOf('a/0'), { ...second, annotations: {} }, first];
    expect(addressesOf(settle({ ...cluster, pods }).cluster)).toEqual([
      ...['a/0 10.17.0.4', 'a/2 10.17.0.3', 'a/1 10.17.0.2'],
    ]);
  });

  it('whose IP object was lost gets one again', () => {
    const { cluster } = settle(clusterOf({ pods: [podOf('a/1')] }));
    const { plan } = settle({ ...cluster, ips: [] });
    expect(plan.changes).toMatchObject([{ type: 'put-ip', ip: { addresses: ['10.17.0.2'] } }]);
  });
});

describe('a pod that asks by name', () => {
  const ask = (asked: Parameters<typeof asking>[0], more = [podOf('a/first')]) =>
    settle(clusterOf({ subnets: [dual], pods: [...more, podOf('a/asks', { annotations: asking(asked) })] }));

  it('gets its address and MAC before those that take what is next', () => {
    const { cluster } = ask({ addresses: '10.17.0.2', mac: '02:00:00:00:00:01' });
    expect(addressesOf(cluster)).toEqual(['a/first 10.17.0.3,fd17::3', 'a/asks 10.17.0.2,fd17::2']);
    expect(cluster.pods[1]!.annotations).toMatchObject(asking({ mac: '02:00:00:00:00:01' }));
  });

  it('may have an excluded address', () => {
    const subnet = { ...blue, excludeIps: ['10.17.0.6'] };
    const pods = [podOf('a/asks', { annotations: asking({ addresses: '10.17.0.6' }) })];
    expect(addressesOf(settle(clusterOf({ subnets: [subnet], pods })).cluster)).toEqual(['a/asks 10.17.0.6']);
  });

  const range = '(10.17.0.0/29, fd17::/64)';
  it.each([
    ['an address elsewhere', { addresses: '10.99.0.1' }, `no pod of subnet blue ${range} can have 10.99.0.1`],
    ['the gateway', { addresses: '10.17.0.1' }, `no pod of subnet blue ${range} can have 10.17.0.1`],
    ['the last address', { addresses: '10.17.0.7' }, `no pod of subnet blue ${range} can have 10.17.0.7`],
    ['text', { addresses: 'all' }, `no pod of subnet blue ${range} can have all`],
    [
      'a MAC of many',
      { mac: '01:00:5e:00:00:01' },
      'ovn.kubernetes.io/mac_address: 01:00:5e:00:00:01 is no MAC of one interface',
    ],
  ])('gets none for %s', (_, asked, message) => {
    const { plan } = ask(asked);
    expect(problemsOf(plan)).toEqual([`OVN_CONFLICT pod a/asks: ${message}`]);
  });

  it.each([
    ['an address', { addresses: '10.17.0.2' }, '10.17.0.2'],
    ['a MAC', { mac: '02:00:00:00:00:01' }, '02:00:00:00:00:01'],
  ])('gets none for %s that another has', (_, asked, text) => {
    const has = podOf('a/has', { annotations: asking({ addresses: '10.17.0.2', mac: '02:00:00:00:00:01' }) });
    const before = settle(clusterOf({ subnets: [dual], pods: [has] })).cluster;
    const pods = [...before.pods, podOf('a/asks', { annotations: asking(asked) })];
    expect(problemsOf(settle({ ...before, pods }).plan)).toEqual([
      `OVN_CONFLICT pod a/asks: ${text} belongs to pod a/has`,
    ]);
  });

  it('of a pool gets the first that is free, and of a stateful set that of its number', () => {
    const pool = { annotations: asking({ pool: '10.17.0.4, 10.17.0.5' }) };
    const pods = [podOf('a/x', pool), podOf('a/y', pool), podOf('a/z', pool)];
    const { cluster, plan } = settle(clusterOf({ pods }));
    expect(addressesOf(cluster)).toEqual(['a/x 10.17.0.4', 'a/y 10.17.0.5', 'a/z -']);
    expect(problemsOf(plan)).toEqual([
      'OVN_EXHAUSTED no address is free for pod a/z in its ip_pool 10.17.0.4, 10.17.0.5',
    ]);
    const sets = clusterOf({ pods: [podOf('a/set-1', { ...pool, statefulSet: 'set' })] });
    expect(addressesOf(settle(sets).cluster)).toEqual(['a/set-1 10.17.0.5']);
  });

  it('of a pool of both families gets a pair', () => {
    const pool = { annotations: asking({ pool: '10.17.0.4,fd17::4;10.17.0.5,fd17::5' }) };
    const { cluster } = settle(
      clusterOf({ subnets: [dual], pods: [podOf('a/x', pool), podOf('a/y', pool)] }),
    );
    expect(addressesOf(cluster)).toEqual(['a/x 10.17.0.4,fd17::4', 'a/y 10.17.0.5,fd17::5']);
  });
});

describe('a pod of a stateful set', () => {
  const set = { namespace: 'a', name: 'set', replicas: 2, isDeleting: false };
  const member = (uid: string, rest = {}) => podOf('a/set-1', { uid, statefulSet: 'set', ...rest });
  const away = () => {
    const { cluster, cursors } = settle(clusterOf({ statefulSets: [set], pods: [member('first')] }));
    return { cluster: { ...cluster, pods: [podOf('a/other')] }, cursors };
  };

  it('loses them when its name has no number', () => {
    const pods = [podOf('a/set-x', { statefulSet: 'set' })];
    const { cluster } = settle(clusterOf({ statefulSets: [set], pods }));
    const reason = 'stateful set set has numbered pods only';
    const { changes } = planAddresses({ ...cluster, pods: [] });
    expect(changes).toEqual([{ type: 'delete-ip', name: 'set-x.a', reason }]);
  });

  it('gets the addresses of its predecessor, which no other pod has had', () => {
    const { cluster } = away();
    const meanwhile = settle(cluster).cluster;
    expect(addressesOf(meanwhile)).toEqual(['a/other 10.17.0.3']);
    const back = settle({ ...meanwhile, pods: [...meanwhile.pods, member('second')] });
    expect(addressesOf(back.cluster)).toEqual(['a/other 10.17.0.3', 'a/set-1 10.17.0.2']);
    expect(back.cluster.ips.find(({ podName }) => podName === 'set-1')).toMatchObject({ podUid: 'second' });
    expect(planAddresses(back.cluster).changes).toEqual([]);
  });

  it.each([
    ['the set is gone', { statefulSets: [] }, 'stateful set set is gone'],
    [
      'the set is being deleted',
      { statefulSets: [{ ...set, isDeleting: true }] },
      'stateful set set is gone',
    ],
    ['the set is smaller', { statefulSets: [{ ...set, replicas: 1 }] }, 'stateful set set has 1 pods'],
    ['the subnet is gone', { subnets: [join] }, 'subnet blue is gone'],
    [
      'the subnet has other addresses',
      { subnets: [{ ...blue, ranges: [{ cidr: '10.20.0.0/24', gateway: '10.20.0.1' }] }] },
      'subnet blue has other addresses',
    ],
  ])('loses them when %s', (_, change, reason) => {
    const { cluster } = away();
    const { changes } = planAddresses({ ...cluster, pods: [], ...change });
    expect(changes).toEqual([{ type: 'delete-ip', name: 'set-1.a', reason }]);
  });

  it('that is to be in another subnet gets an address there', () => {
    const { cluster } = away();
    const red = {
      ...blue,
      name: 'red',
      isDefault: false,
      ranges: [{ cidr: '10.18.0.0/24', gateway: '10.18.0.1' }],
    };
    const pods = [member('second', { annotations: asking({ subnet: 'red' }) })];
    const { cluster: after } = settle({ ...cluster, subnets: [blue, red], pods });
    expect(addressesOf(after)).toEqual(['a/set-1 10.18.0.2']);
    expect(after.ips).toMatchObject([{ subnet: 'red', podUid: 'second' }]);
  });
});

describe('a node', () => {
  const node = (name: string, annotations?: Record<string, string>) => ({
    ...{ name, addresses: [] },
    ...(annotations === undefined ? {} : { annotations }),
  });

  it('gets an end of the subnet `join` in an IP object, and keeps it', () => {
    const { plan, cluster } = settle(clusterOf({ nodes: [node('n1'), node('n2')] }));
    expect(plan.changes).toMatchObject([
      { type: 'put-ip', ip: { name: 'node-n1', namespace: '', subnet: 'join', addresses: ['100.64.0.2'] } },
      { type: 'put-ip', ip: { name: 'node-n2', podName: 'n2', node: 'n2', addresses: ['100.64.0.3'] } },
    ]);
    expect(planAddresses(cluster).changes).toEqual([]);
  });

  it('with annotations learns it from them, and an IP object that was lost comes back from them', () => {
    const { plan, cluster } = settle(clusterOf({ nodes: [node('n1', {})] }));
    expect(plan.changes[1]).toMatchObject({
      ...{ type: 'annotate', what: 'node', id: 'n1' },
      annotations: asking({ addresses: '100.64.0.2', port: 'node-n1', subnet: 'join', isAllocated: 'true' }),
    });
    expect(planAddresses(cluster).changes).toEqual([]);
    expect(planAddresses({ ...cluster, ips: [] }).changes).toMatchObject([
      { type: 'put-ip', ip: { name: 'node-n1', addresses: ['100.64.0.2'] } },
    ]);
  });

  it('that is gone leaves its addresses; another one begins behind them', () => {
    const { cluster, cursors } = settle(clusterOf({ nodes: [node('n1'), node('n2')] }));
    const { plan } = settle({ ...cluster, nodes: [node('n2'), node('n3')] }, cursors);
    expect(plan.changes).toMatchObject([
      { type: 'delete-ip', name: 'node-n1', reason: 'its node is gone' },
      { type: 'put-ip', ip: { name: 'node-n3', addresses: ['100.64.0.4'] } },
    ]);
  });

  it('gets other addresses when the subnet `join` has others', () => {
    const { cluster } = settle(clusterOf({ nodes: [node('n1')] }));
    const moved = { ...join, ranges: [{ cidr: '100.65.0.0/29', gateway: '100.65.0.1' }] };
    expect(planAddresses({ ...cluster, subnets: [moved] }).changes).toMatchObject([
      { type: 'delete-ip', reason: 'subnet join has other addresses' },
      { type: 'put-ip', ip: { addresses: ['100.65.0.2'] } },
    ]);
  });

  it('is a problem when the subnet has no address for it, and nothing while there is no such subnet', () => {
    const nodes = ['n1', 'n2', 'n3', 'n4', 'n5', 'n6'].map((name) => node(name));
    expect(problemsOf(planAddresses(clusterOf({ nodes })))).toEqual([
      'OVN_EXHAUSTED no address is free for node n6 in subnet join (100.64.0.0/29)',
    ]);
    expect(planAddresses(clusterOf({ nodes, subnets: [blue] }))).toMatchObject({ changes: [], problems: [] });
  });
});

describe('contradictions', () => {
  const holding = (id: string, addresses: string, rest: Parameters<typeof asking>[0] = {}) =>
    podOf(id, {
      annotations: asking({
        addresses,
        mac: '02:00:00:00:00:01',
        subnet: 'blue',
        isAllocated: 'true',
        ...rest,
      }),
    });

  it('are named, and what has addresses keeps them', () => {
    const pods = [
      holding('a/1', '10.17.0.2'),
      holding('a/2', '10.17.0.2', { mac: '02:00:00:00:00:02' }),
      holding('a/3', '10.99.0.2', { mac: '02:00:00:00:00:03' }),
      holding('a/4', '10.17.0.3', { mac: '02:00:00:00:00:04', subnet: 'gone' }),
    ];
    const { plan } = settle(clusterOf({ pods }));
    expect(problemsOf(plan)).toEqual([
      'OVN_CONFLICT pod a/2 and pod a/1 both have 10.17.0.2 of subnet blue',
      'OVN_CONFLICT pod a/3 has 10.99.0.2, which is not in its subnet blue',
      'OVN_CONFLICT pod a/4 is in subnet gone, which is not there',
    ]);
    expect(plan.changes.filter(({ type }) => type === 'annotate')).toEqual([]);
  });
});
