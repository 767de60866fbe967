import { type OvnLook, planOvnCluster } from '@podwire/cluster-ovn';
import type { StoredObject } from '@podwire/objects';
import { describe, expect, it } from 'vitest';
import { problemsOf } from './address-cluster.js';
import { lookOf, make, nodeOf, options, settle, stored, writesOf } from './cluster-look.js';

describe('a cluster', () => {
  it('gets the objects that each one has, and is in order then', () => {
    const plan = planOvnCluster(lookOf([]), options);
    expect(writesOf(plan)).toEqual([
      'create Vpc ovn-cluster',
      'create Subnet join',
      'create Subnet ovn-default',
    ]);
    expect(plan.facts.subnets.size).toBe(0);
    const again = planOvnCluster(lookOf(settle([])), options);
    expect(again).toMatchObject({ changes: [], problems: [] });
    expect([...again.facts.subnets.keys()].sort()).toEqual(['join', 'ovn-default']);
    expect(again.facts.vpcs.get('ovn-cluster')).toMatchObject({ isDefault: true });
  });

  it('that has a default subnet of another name gets none', () => {
    const own = make('Subnet', 'pods', { cidrBlock: '10.20.0.0/16', default: true });
    expect(writesOf(planOvnCluster(lookOf([own]), options))).toEqual([
      'create Vpc ovn-cluster',
      'create Subnet join',
      'change Subnet pods',
    ]);
  });

  it('leaves alone what cannot be read', () => {
    const reference = { apiVersion: 'kubeovn.io/v1', kind: 'Subnet', name: 'join' };
    const problems = [{ file: 'a.yaml', line: 1, message: 'spec.cidrBlock: is missing' }];
    const look = lookOf([]);
    const objects = { ...look.objects, unreadable: [{ reference, revision: 1, problems }] };
    const plan = planOvnCluster({ ...look, objects }, options);
    expect(writesOf(plan)).not.toContain('create Subnet join');
    expect(problemsOf(plan)).toEqual([
      'OBJECT_INVALID kubeovn.io/v1 Subnet join: spec.cidrBlock: is missing',
    ]);
  });
});

describe('a node', () => {
  it('is in the logical network as soon as its IP object is stored', () => {
    const objects = settle([]);
    const first = planOvnCluster(lookOf(objects, [nodeOf('n1')]), options);
    expect(writesOf(first)).toEqual(['create IP node-n1']);
    expect(first.facts.nodes.size).toBe(0);
    const second = planOvnCluster(lookOf(settle(objects, [nodeOf('n1')]), [nodeOf('n1')]), options);
    expect(second.changes).toEqual([]);
    expect(second.facts.nodes.get('n1')).toMatchObject({
      joinAddresses: ['100.64.0.2'],
      addresses: ['192.0.2.1'],
    });
  });

  it('has the rates that its IP object is annotated with', () => {
    const nodes = [nodeOf('n1')];
    const objects = settle(settle([]), nodes).map((one) => {
      const { metadata } = one.object;
      const annotations = { 'ovn.kubernetes.io/ingress_rate': '3', 'ovn.kubernetes.io/egress_rate': '0' };
      return metadata.name === 'node-n1'
        ? stored({ ...one.object, metadata: { ...metadata, annotations } })
        : one;
    });
    const plan = planOvnCluster(lookOf(objects, nodes), options);
    expect(writesOf(plan)).not.toContain('change IP node-n1');
    expect(plan.facts.nodes.get('n1')).toMatchObject({ ingressRate: 3_000_000 });
    expect(plan.facts.nodes.get('n1')).not.toHaveProperty('egressRate');
  });

  it('that is gone takes its IP object with it', () => {
    const objects = settle(settle([]), [nodeOf('n1')]);
    const plan = planOvnCluster(lookOf(objects), options);
    expect(writesOf(plan)).toEqual(['delete IP node-n1']);
    expect(plan.facts.nodes.size).toBe(0);
  });
});

describe('a subnet', () => {
  const blue = (spec: Readonly<Record<string, unknown>> = {}) =>
    make('Subnet', 'blue', { cidrBlock: '10.17.0.0/16,fd17::/64', ...spec });
  const factOf = (objects: readonly StoredObject[], nodes?: OvnLook['nodes']) =>
    planOvnCluster(lookOf([...settle([]), ...objects], nodes), options).facts.subnets.get('blue');

  it('has its ranges with their gateways', () => {
    expect(factOf([blue()])?.ranges).toEqual([
      { cidr: '10.17.0.0/16', gateway: '10.17.0.1' },
      { cidr: 'fd17::/64', gateway: 'fd17::1' },
    ]);
  });

  it('leaves through those of its gateways that are reachable', () => {
    const central = blue({ gatewayType: 'centralized', gatewayNode: 'n1,n2,n3' });
    const nodes = [nodeOf('n1'), nodeOf('n2', false)];
    expect(factOf([central], nodes)?.egress).toEqual({ type: 'centralized', nodes: ['n1'] });
    expect(factOf([blue()], nodes)?.egress).toEqual({ type: 'distributed' });
  });

  it('that is private is reached from what it allows; of another one that list says nothing', () => {
    const allowSubnets = ['10.18.0.0/16'];
    expect(factOf([blue({ private: true, allowSubnets })])?.allowedRanges).toEqual(allowSubnets);
    expect(factOf([blue({ private: true })])?.allowedRanges).toEqual([]);
    expect(factOf([blue({ allowSubnets })])?.allowedRanges).toBeUndefined();
  });

  it('is on the VLAN that it names', () => {
    const vlan = make('Vlan', 'v10', { id: 10, provider: 'net1' });
    expect(factOf([blue({ vlan: 'v10' }), vlan])?.underlay).toEqual({ provider: 'net1', vlan: 10 });
  });

  it.each([
    ['a VLAN', { vlan: 'v9' }, 'spec.vlan: there is no Vlan v9'],
    ['a VPC', { vpc: 'red' }, 'spec.vpc: there is no Vpc red'],
  ])('that names %s which is not there stays as it was, and is no overlay instead', (_, spec, message) => {
    const plan = planOvnCluster(lookOf([...settle([]), blue(spec)]), options);
    expect(problemsOf(plan)).toEqual([`OVN_CONFLICT Subnet blue: ${message}`]);
    expect(plan.facts.subnets.get('blue')?.fault?.message).toBe(`Subnet blue: ${message}`);
  });

  it('that overlaps an older one is not made; the older one is', () => {
    const plan = planOvnCluster(
      lookOf([...settle([]), blue(), make('Subnet', 'aqua', { cidrBlock: '10.17.5.0/24' })]),
      options,
    );
    expect(plan.facts.subnets.get('blue')?.fault).toBeUndefined();
    expect(plan.facts.subnets.get('aqua')?.fault?.message).toContain('10.17.5.0/24 overlaps 10.17.0.0/16');
  });
});

describe('a pod', () => {
  const pod = { namespace: 'shop', name: 'web', uid: 'u1', node: 'n1', annotations: {}, hasEnded: false };
  const answered = () => {
    const base = settle([]);
    const plan = planOvnCluster({ ...lookOf(base), pods: [pod] }, options);
    const [{ annotations } = { annotations: {} }] = plan.answers;
    const ip = plan.changes.find(({ after }) => after?.kind === 'IP')!.after!;
    const known = { ...pod, annotations };
    return { look: lookOf(settle([...base, stored(ip)], [], 0, [known])), plan, pod: known };
  };

  it('is answered and gets an IP object, and is in the logical network when both are stored', () => {
    const { plan, look, pod: known } = answered();
    expect(plan.answers).toMatchObject([
      { id: 'shop/web', uid: 'u1', annotations: { 'ovn.kubernetes.io/ip_address': '10.16.0.2' } },
    ]);
    expect(writesOf(plan)).toEqual(['create IP web.shop']);
    expect(plan.facts.pods.size).toBe(0);
    const next = planOvnCluster({ ...look, pods: [known] }, options);
    expect(next).toMatchObject({ changes: [], answers: [], problems: [] });
    expect(next.facts.pods.get('shop/web')).toMatchObject({
      ...{ subnet: 'ovn-default', node: 'n1', addresses: ['10.16.0.2'], hasPortSecurity: false },
    });
  });

  it('may send from its own addresses alone, where it is annotated so', () => {
    const { look, pod: known } = answered();
    const annotations = { ...known.annotations, 'ovn.kubernetes.io/port_security': 'true' };
    const { facts } = planOvnCluster({ ...look, pods: [{ ...known, annotations }] }, options);
    expect(facts.pods.get('shop/web')?.hasPortSecurity).toBe(true);
  });

  it.each([
    ['10', 10_000_000],
    ['0.5', 500_000],
    ['0', undefined],
    ['', undefined],
    ['10M', undefined],
  ])('that is annotated with the egress rate %j sends %j bit/s at most', (text, rate) => {
    const { look, pod: known } = answered();
    const annotations = { ...known.annotations, 'ovn.kubernetes.io/egress_rate': text };
    const { facts } = planOvnCluster({ ...look, pods: [{ ...known, annotations }] }, options);
    expect(facts.pods.get('shop/web')?.egressRate).toBe(rate);
  });

  it('whose record cannot be read keeps what its IP object has', () => {
    const { look } = answered();
    const unreadablePods = [
      { namespace: 'shop', name: 'web' },
      { namespace: 'shop', name: 'new' },
    ];
    const plan = planOvnCluster({ ...look, unreadablePods }, options);
    expect(plan).toMatchObject({ changes: [], answers: [], problems: [] });
    expect([...plan.facts.pods.keys()]).toEqual(['shop/web']);
  });

  it('whose IP object cannot be read has it left alone, and others are served', () => {
    const { look } = answered();
    const reference = { apiVersion: 'kubeovn.io/v1', kind: 'IP', name: 'web.shop' };
    const objects = { ...look.objects, ips: [], unreadable: [{ reference, revision: 1, problems: [] }] };
    const pods = [pod, { ...pod, name: 'db', uid: 'u5' }];
    const plan = planOvnCluster({ ...look, objects, pods }, options);
    expect(writesOf(plan)).toContain('create IP db.shop');
    expect(writesOf(plan)).not.toContain('create IP web.shop');
  });

  it('under the name of another one has its IP object replaced in one write', () => {
    const { look } = answered();
    const plan = planOvnCluster({ ...look, pods: [{ ...pod, uid: 'u2' }] }, options);
    expect(writesOf(plan)).toEqual(['change IP web.shop']);
    expect(plan.answers).toMatchObject([{ uid: 'u2' }]);
  });

  it('that is gone takes its IP object with it', () => {
    const { look } = answered();
    const plan = planOvnCluster(look, options);
    expect(writesOf(plan)).toEqual(['delete IP web.shop']);
    expect(plan.facts.pods.size).toBe(0);
  });
});
