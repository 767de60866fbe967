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

it('come into the IP object beside the mirror of a pod, which is on or off', () => {
  const outcome = annotate(addPod({ ingressRate: '3' }), { mirror: 'true' });
  expect(ratesOf(outcome)).toEqual(asking({ ingressRate: '3', mirror: 'true' }));
  expect(ratesOf(annotate(outcome, { mirror: 'false' }))).toEqual(asking({ ingressRate: '3' }));
});
