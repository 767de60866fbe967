/** Cases of allowed peers: pods, namespaces, both, blocks of addresses. */
import type { Cluster, Pod } from '../cluster.js';
import { type Expectation, networkPolicy as policy, type PolicyCase, singleStep } from './case.js';

const category = 'peer';
const isTarget = (pod: Pod): boolean => pod.namespace === 'x' && pod.name === 'a';
const target = { podSelector: { matchLabels: { pod: 'a' } } };

/** The same peer for what comes in to x/a and for what goes out of it. */
function bothWays(
  name: string,
  peers: (cluster: Cluster) => readonly object[],
  isPeer: (pod: Pod, family: 4 | 6) => boolean,
): PolicyCase[] {
  const ingress: Expectation = (from, to, { family }) => !isTarget(to) || isPeer(from, family);
  const egress: Expectation = (from, to, { family }) => !isTarget(from) || isPeer(to, family);
  return [
    singleStep(
      category,
      `from ${name}`,
      (cluster) => [policy('x/in', { ...target, ingress: [{ from: peers(cluster) }] })],
      ingress,
    ),
    singleStep(
      category,
      `to ${name}`,
      (cluster) => [
        policy('x/out', { ...target, policyTypes: ['Egress'], egress: [{ to: peers(cluster) }] }),
      ],
      egress,
    ),
  ];
}

const labelled = (labels: object): object => ({ matchLabels: labels });
const oneOf = (key: string, operator: string, values?: readonly string[]): object => ({
  matchExpressions: [{ key, operator, ...(values && { values }) }],
});

export const peerCases: readonly PolicyCase[] = [
  ...bothWays(
    'nothing listed',
    () => [],
    () => true,
  ),
  ...bothWays(
    'all pods of the own namespace',
    () => [{ podSelector: {} }],
    (pod) => pod.namespace === 'x',
  ),
  ...bothWays(
    'pods by label in the own namespace',
    () => [{ podSelector: labelled({ pod: 'b' }) }],
    (pod) => pod.namespace === 'x' && pod.name === 'b',
  ),
  ...bothWays(
    'all namespaces',
    () => [{ namespaceSelector: {} }],
    () => true,
  ),
  ...bothWays(
    'namespaces by label',
    () => [{ namespaceSelector: labelled({ ns: 'y' }) }],
    (pod) => pod.namespace === 'y',
  ),
  ...bothWays(
    'a namespace by its name',
    () => [{ namespaceSelector: labelled({ 'kubernetes.io/metadata.name': 'z' }) }],
    (pod) => pod.namespace === 'z',
  ),
  ...bothWays(
    'namespaces by expression',
    () => [{ namespaceSelector: oneOf('ns', 'NotIn', ['x']) }],
    (pod) => pod.namespace !== 'x',
  ),
  ...bothWays(
    'namespaces and pods by label in one peer',
    () => [{ namespaceSelector: labelled({ ns: 'y' }), podSelector: labelled({ pod: 'b' }) }],
    (pod) => pod.namespace === 'y' && pod.name === 'b',
  ),
  ...bothWays(
    'namespaces or pods by label in two peers',
    () => [{ namespaceSelector: labelled({ ns: 'y' }) }, { podSelector: labelled({ pod: 'b' }) }],
    (pod) => pod.namespace === 'y' || (pod.namespace === 'x' && pod.name === 'b'),
  ),
  ...bothWays(
    'pods by label in all namespaces',
    () => [{ namespaceSelector: {}, podSelector: oneOf('pod', 'In', ['b', 'c']) }],
    (pod) => pod.name !== 'a',
  ),
  ...bothWays(
    'namespaces with a label that none has',
    () => [{ namespaceSelector: oneOf('none', 'Exists') }],
    () => false,
  ),
  ...bothWays(
    'every address of one family',
    () => [{ ipBlock: { cidr: '0.0.0.0/0' } }],
    (_, family) => family === 4,
  ),
  ...bothWays(
    'every address',
    () => [{ ipBlock: { cidr: '0.0.0.0/0' } }, { ipBlock: { cidr: '::/0' } }],
    () => true,
  ),
  ...bothWays(
    'one address',
    (cluster) => blocks(cluster, ['y/b']),
    (pod) => isPod(pod, 'y/b'),
  ),
  ...bothWays(
    'every address except two',
    (cluster) => [
      { ipBlock: { cidr: '0.0.0.0/0', except: addresses(cluster, ['y/b', 'z/c'], 4) } },
      { ipBlock: { cidr: '::/0', except: addresses(cluster, ['y/b', 'z/c'], 6) } },
    ],
    (pod) => !isPod(pod, 'y/b') && !isPod(pod, 'z/c'),
  ),
  ...bothWays(
    'an address that another block excepts',
    (cluster) => [
      { ipBlock: { cidr: '0.0.0.0/0', except: addresses(cluster, ['y/b'], 4) } },
      { ipBlock: { cidr: '::/0', except: addresses(cluster, ['y/b'], 6) } },
      ...blocks(cluster, ['y/b']),
    ],
    () => true,
  ),
  ...bothWays(
    'a pod that a block excepts',
    (cluster) => [
      { ipBlock: { cidr: '0.0.0.0/0', except: addresses(cluster, ['y/b'], 4) } },
      { ipBlock: { cidr: '::/0', except: addresses(cluster, ['y/b'], 6) } },
      { namespaceSelector: labelled({ ns: 'y' }), podSelector: labelled({ pod: 'b' }) },
    ],
    () => true,
  ),
];

const isPod = (pod: Pod, fullName: string): boolean => `${pod.namespace}/${pod.name}` === fullName;

const blocks = (cluster: Cluster, pods: readonly string[]): object[] =>
  ([4, 6] as const).flatMap((family) =>
    addresses(cluster, pods, family).map((cidr) => ({ ipBlock: { cidr } })),
  );

/** Prefixes of single addresses. */
function addresses(cluster: Cluster, pods: readonly string[], family: 4 | 6): string[] {
  const chosen = cluster.pods.filter((pod) => pods.some((name) => isPod(pod, name)));
  const texts = chosen.flatMap((pod) => pod.addresses);
  return texts
    .filter((text) => text.includes(':') === (family === 6))
    .map((text) => `${text}/${family === 6 ? 128 : 32}`);
}
