/** Subnets that something is wrong with: who is in them stays, and nothing of them is handed out. */
import { planAddresses, planOvnCluster } from '@podwire/cluster-ovn';
import { expect, it } from 'vitest';
import { addressesOf, asking, blue, clusterOf, join, podOf, problemsOf, settle } from './address-cluster.js';
import { lookOf, nodeOf, options, settle as settleObjects, writesOf } from './cluster-look.js';

const node = { name: 'n1', addresses: [] };
const red = {
  ...blue,
  name: 'red',
  isDefault: false,
  ranges: [{ cidr: '10.18.0.0/24', gateway: '10.18.0.1' }],
};

/** A pod in a subnet, a stateful set's that is away, and a node. */
function createCluster() {
  const set = { namespace: 'shop', name: 'set', replicas: 2, isDeleting: false };
  const pods = [podOf('shop/web'), podOf('shop/set-0', { statefulSet: 'set' })];
  const subnets = [{ ...blue, namespaces: ['shop'], isDefault: false }, { ...red, isDefault: true }, join];
  const { cluster } = settle(clusterOf({ subnets, pods, nodes: [node], statefulSets: [set] }));
  return { ...cluster, pods: cluster.pods.slice(0, 1) };
}

it('with a fault keep all their IP objects, and refuse new pods and no others', () => {
  const cluster = createCluster();
  const subnets = cluster.subnets.map((subnet) => ({ ...subnet, isSuspended: subnet.name !== 'red' }));
  const pods = [...cluster.pods, podOf('shop/new'), podOf('other/new')];
  const nodes = [node, { name: 'n2', addresses: [] }];
  const { plan, cluster: after } = settle({ ...cluster, subnets, pods, nodes });
  expect(plan.changes.filter(({ type }) => type === 'delete-ip')).toEqual([]);
  expect(addressesOf(after)).toEqual(['shop/web 10.17.0.2', 'shop/new -', 'other/new 10.18.0.2']);
  expect(problemsOf(plan)).toEqual([
    'OVN_CONFLICT pod shop/new: subnet blue hands out nothing before its own fault is corrected',
  ]);
});

it('that cannot be read keep all their IP objects; pods whose subnet one of them may be wait', () => {
  const cluster = createCluster();
  const pods = [
    ...cluster.pods,
    podOf('shop/new'),
    podOf('shop/named', { annotations: asking({ subnet: 'red' }) }),
  ];
  const gone = { subnets: cluster.subnets.filter(({ name }) => name === 'red'), pods };
  const { plan, cluster: after } = settle({ ...cluster, ...gone, unreadableSubnets: ['blue', 'join'] });
  expect(plan.changes.filter(({ type }) => type === 'delete-ip')).toEqual([]);
  expect(addressesOf(after)).toEqual(['shop/web 10.17.0.2', 'shop/new -', 'shop/named 10.18.0.2']);
  expect(problemsOf(plan)).toEqual([
    'OVN_CONFLICT pod shop/new: the subnet of namespace shop may be blue, which cannot be read',
  ]);
});

it('that are well again go on with what they had', () => {
  const cluster = createCluster();
  const suspended = cluster.subnets.map((subnet) => ({ ...subnet, isSuspended: true }));
  const meanwhile = settle({ ...cluster, subnets: suspended }).cluster;
  expect(planAddresses({ ...meanwhile, subnets: cluster.subnets }).changes).toEqual([]);
});

it('are not what a cluster loses its nodes by: a VPC that was deleted comes back, and addresses stay', () => {
  const objects = settleObjects(settleObjects([]), [nodeOf('n1')]);
  const without = objects.filter(({ object }) => object.kind !== 'Vpc');
  const plan = planOvnCluster(lookOf(without, [nodeOf('n1')]), options);
  expect(writesOf(plan)).toContain('create Vpc ovn-cluster');
  expect(writesOf(plan).filter((write) => write.includes(' IP '))).toEqual([]);
});
