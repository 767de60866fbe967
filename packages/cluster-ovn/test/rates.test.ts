/** Rates and mirrors of pods, which their nodes read in IP objects. */
import { expect, it } from 'vitest';
import { asking, clusterOf, type Outcome, podOf, problemsOf, settle } from './address-cluster.js';

/** @param asked by the short names of annotations */
const addPod = (asked: Parameters<typeof asking>[0]): Outcome =>
  settle(clusterOf({ pods: [podOf('shop/web', { annotations: asking(asked) })] }));

/** As a person who annotates the pod while it runs. */
function annotate({ cluster }: Outcome, asked: Parameters<typeof asking>[0]): Outcome {
  const pods = cluster.pods.map((pod) => ({ ...pod, annotations: { ...pod.annotations, ...asking(asked) } }));
  return settle({ ...cluster, pods });
}

const ratesOf = ({ cluster }: Outcome) => cluster.ips[0]?.portAnnotations;

it('come into the IP object of a pod with its addresses', () => {
  const outcome = addPod({ ingressRate: '3', egressRate: '0.5' });
  expect(ratesOf(outcome)).toEqual(asking({ ingressRate: '3', egressRate: '0.5' }));
  expect(settle(outcome.cluster).plan.changes).toEqual([]);
});

it('that change, come and go while the pod runs change its IP object alone', () => {
  let outcome = addPod({ ingressRate: '3' });
  const [{ addresses, mac }] = outcome.cluster.ips as [Outcome['cluster']['ips'][number]];
  for (const [asked, rates] of [
    [{ ingressRate: '5' }, { ingressRate: '5' }],
    [{ egressRate: '7' }, { ingressRate: '5', egressRate: '7' }],
    [{ ingressRate: '' }, { egressRate: '7' }],
  ] as const) {
    outcome = annotate(outcome, asked);
    expect(outcome.plan.changes.map(({ type }) => type)).toEqual(['put-ip']);
    expect(outcome.cluster.ips).toMatchObject([{ addresses, mac, portAnnotations: asking(rates) }]);
    expect(ratesOf(outcome)).toEqual(asking(rates));
  }
});

it('that are none are problems, and count as if they were not there', () => {
  const outcome = annotate(addPod({ ingressRate: '3', egressRate: '4' }), { ingressRate: '3M' });
  expect(ratesOf(outcome)).toEqual(asking({ egressRate: '4' }));
  expect(problemsOf(outcome.plan)).toEqual([
    'OVN_CONFLICT pod shop/web: annotation ovn.kubernetes.io/ingress_rate: "3M" is not a rate in Mbit/s',
  ]);
});

it('of a pod that has been made again are its own', () => {
  const { cluster } = addPod({ ingressRate: '3' });
  const again = settle({ ...cluster, pods: [podOf('shop/web', { uid: 'another' })] });
  expect(ratesOf(again)).toEqual({});
});

const joinedNode = (rates?: Parameters<typeof asking>[0]) => ({
  ...{ name: 'n1', addresses: [] },
  ...(rates === undefined ? {} : { rates: asking(rates) }),
});

it('of a node come into its IP object, and change there, where an API server has the node', () => {
  let outcome = settle(clusterOf({ nodes: [joinedNode({ ingressRate: '100' })] }));
  expect(ratesOf(outcome)).toEqual(asking({ ingressRate: '100' }));
  const [{ addresses, mac }] = outcome.cluster.ips as [Outcome['cluster']['ips'][number]];
  expect(settle(outcome.cluster).plan.changes).toEqual([]);
  for (const rates of [{ egressRate: '7' }, {}]) {
    outcome = settle({ ...outcome.cluster, nodes: [joinedNode(rates)] });
    expect(outcome.cluster.ips).toMatchObject([{ addresses, mac }]);
    expect(ratesOf(outcome)).toEqual(asking(rates));
  }
  outcome = settle({ ...outcome.cluster, nodes: [joinedNode({ egressRate: 'fast' })] });
  expect(ratesOf(outcome)).toEqual({});
  expect(problemsOf(outcome.plan)).toEqual([
    'OVN_CONFLICT node n1: annotation ovn.kubernetes.io/egress_rate: "fast" is not a rate in Mbit/s',
  ]);
});

it('of the IP object of a node that no API server has stay as they are', () => {
  const { cluster } = settle(clusterOf({ nodes: [joinedNode({ ingressRate: '100' })] }));
  const own = settle({ ...cluster, nodes: [joinedNode()] });
  expect([own.plan.changes, ratesOf(own)]).toEqual([[], asking({ ingressRate: '100' })]);
});

it('come into the IP object beside the mirror of a pod, which is on or off', () => {
  const outcome = annotate(addPod({ ingressRate: '3' }), { mirror: 'true' });
  expect(ratesOf(outcome)).toEqual(asking({ ingressRate: '3', mirror: 'true' }));
  expect(ratesOf(annotate(outcome, { mirror: 'false' }))).toEqual(asking({ ingressRate: '3' }));
});
