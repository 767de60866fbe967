/** Calico's own: tiers, order, Pass, Log, selectors, sets, negations. */
import { calico, networkPolicy as policy, type PolicyCase, singleStep } from './case.js';

const category = 'calico';
const isX = (pod: { readonly namespace: string }): boolean => pod.namespace === 'x';
const isY = (pod: { readonly namespace: string }): boolean => pod.namespace === 'y';
const inX = { selector: "projectcalico.org/namespace == 'x'" };
const allow = { action: 'Allow' };
const deny = { action: 'Deny' };
const fromY = { source: { namespaceSelector: "ns == 'y'" } };

/** Behind everything: what no other policy of the tier has decided is allowed. */
const openEnd = calico('GlobalNetworkPolicy', 'zz-open', {
  order: 9000,
  types: ['Ingress', 'Egress'],
  ingress: [allow],
  egress: [allow],
});

export const calicoCases: readonly PolicyCase[] = [
  singleStep(
    category,
    'a global policy denies from a namespace',
    () => [
      calico('GlobalNetworkPolicy', 'deny', { ...inX, order: 1, ingress: [{ ...deny, ...fromY }, allow] }),
    ],
    (from, to) => !(isX(to) && isY(from)),
  ),
  singleStep(
    category,
    'a policy without rules closes ingress',
    () => [calico('NetworkPolicy', 'close', { selector: 'all()' }, 'x')],
    (_, to) => !isX(to),
  ),
  singleStep(
    category,
    'the lower order comes first',
    () => [
      calico('NetworkPolicy', 'a-late', { order: 20, ingress: [deny] }, 'x'),
      calico('NetworkPolicy', 'z-early', { order: 10, ingress: [allow] }, 'x'),
    ],
    () => true,
  ),
  singleStep(
    category,
    'without an order it comes last',
    () => [
      calico('NetworkPolicy', 'a-last', { ingress: [deny] }, 'x'),
      calico('NetworkPolicy', 'z-first', { order: 10, ingress: [allow] }, 'x'),
    ],
    () => true,
  ),
  singleStep(
    category,
    'of equal orders the name decides',
    () => [
      calico('NetworkPolicy', 'b', { order: 10, ingress: [deny] }, 'x'),
      calico('NetworkPolicy', 'a', { order: 10, ingress: [{ ...allow, ...fromY }] }, 'x'),
    ],
    (from, to) => !isX(to) || isY(from),
  ),
  singleStep(
    category,
    'order 999 denies in front of a NetworkPolicy of Kubernetes, order 1001 does not',
    () => [
      policy('x/allow', { ingress: [{}] }),
      policy('y/allow', { ingress: [{}] }),
      calico('NetworkPolicy', 'deny', { order: 999, ingress: [deny] }, 'x'),
      calico('NetworkPolicy', 'deny', { order: 1001, ingress: [deny] }, 'y'),
    ],
    (_, to) => !isX(to),
  ),
  singleStep(
    category,
    'Log decides nothing',
    () => [calico('NetworkPolicy', 'log', { ingress: [{ action: 'Log' }, { ...allow, ...fromY }] }, 'x')],
    (from, to) => !isX(to) || isY(from),
  ),
  singleStep(
    category,
    'Pass skips the rest of its tier',
    () => [
      calico('Tier', 'security', { order: 100 }),
      calico('GlobalNetworkPolicy', 'security.pass', {
        ...inX,
        tier: 'security',
        order: 1,
        ingress: [{ action: 'Pass', ...fromY }],
      }),
      calico('GlobalNetworkPolicy', 'security.deny', { ...inX, tier: 'security', order: 2, ingress: [deny] }),
    ],
    (from, to) => !isX(to) || isY(from),
  ),
  singleStep(
    category,
    'a tier denies at its end what it selects, and no other pod',
    () => [
      calico('Tier', 'security', { order: 100 }),
      calico('GlobalNetworkPolicy', 'security.some', {
        ...inX,
        tier: 'security',
        ingress: [{ action: 'Pass', ...fromY }],
      }),
      policy('y/deny', {}),
    ],
    (from, to) => (isX(to) ? isY(from) : !isY(to)),
  ),
  singleStep(
    category,
    'tiers by order',
    () => [
      calico('Tier', 'a-second', { order: 200 }),
      calico('Tier', 'z-first', { order: 100 }),
      calico('GlobalNetworkPolicy', 'a-second.deny', { ...inX, tier: 'a-second', ingress: [deny] }),
      calico('GlobalNetworkPolicy', 'z-first.allow', {
        ...inX,
        tier: 'z-first',
        ingress: [{ ...allow, ...fromY }, { action: 'Pass' }],
      }),
    ],
    (from, to) => !isX(to) || isY(from),
  ),
  singleStep(
    category,
    'notSelector, notNets and notPorts',
    () => [
      calico(
        'NetworkPolicy',
        'not',
        {
          ingress: [
            {
              ...allow,
              protocol: 'TCP',
              source: { namespaceSelector: 'all()', notSelector: "pod == 'b'" },
              destination: { notPorts: [81] },
            },
            { ...allow, protocol: 'UDP', source: { notNets: ['0.0.0.0/0'] } },
          ],
        },
        'x',
      ),
    ],
    (from, to, { protocol, port, family }) =>
      !isX(to) ||
      (protocol === 'tcp' ? from.name !== 'b' && port !== 81 : protocol === 'udp' && family === 6),
  ),
  singleStep(
    category,
    'the selector language',
    () => [
      calico('GlobalNetworkPolicy', 'words', {
        selector: "has(pod) && (pod in {'a', 'b'} || pod == \"c\") && pod not in {'b'}",
        order: 1,
        ingress: [{ ...deny, source: { selector: "!(pod starts with 'a') && pod != 'c'" } }],
      }),
      openEnd,
    ],
    (from, to) => to.name === 'b' || from.name !== 'b',
  ),
  singleStep(
    category,
    'ports: numbers, ranges and names',
    () => [
      calico(
        'NetworkPolicy',
        'ports',
        {
          ingress: [
            { ...allow, protocol: 'TCP', destination: { ports: [80] } },
            { ...allow, protocol: 'UDP', destination: { ports: ['81:90'] } },
            { ...allow, protocol: 'SCTP', destination: { ports: ['serve-80-sctp'] } },
          ],
        },
        'x',
      ),
    ],
    (_, to, { protocol, port }) => !isX(to) || port === (protocol === 'udp' ? 81 : 80),
  ),
  singleStep(
    category,
    'notProtocol and ipVersion',
    () => [
      calico(
        'NetworkPolicy',
        'not',
        {
          ingress: [
            { ...allow, notProtocol: 'TCP' },
            { ...allow, ipVersion: 6 },
          ],
        },
        'x',
      ),
    ],
    (_, to, { protocol, family }) => !isX(to) || protocol !== 'tcp' || family === 6,
  ),
  singleStep(
    category,
    'a global network set by its labels',
    (cluster) => [
      calico('GlobalNetworkPolicy', 'set', {
        ...inX,
        order: 1,
        ingress: [{ ...deny, source: { selector: "role == 'enemy'" } }, allow],
      }),
      {
        ...calico('GlobalNetworkSet', 'enemies', { nets: hostNets(cluster, 'y/b') }),
        metadata: { name: 'enemies', labels: { role: 'enemy' } },
      },
    ],
    (from, to) => !(isX(to) && isY(from) && from.name === 'b'),
  ),
  singleStep(
    category,
    'a network set is its namespace’s own',
    (cluster) => [
      calico(
        'NetworkPolicy',
        'set',
        { ingress: [{ ...allow, source: { selector: "role == 'friend'" } }] },
        'x',
      ),
      calico(
        'NetworkPolicy',
        'set',
        { ingress: [{ ...allow, source: { selector: "role == 'friend'" } }] },
        'z',
      ),
      {
        ...calico('NetworkSet', 'friends', { nets: hostNets(cluster, 'y/b') }, 'x'),
        metadata: { name: 'friends', namespace: 'x', labels: { role: 'friend' } },
      },
    ],
    (from, to) => isY(to) || (isX(to) && isY(from) && from.name === 'b'),
  ),
  singleStep(
    category,
    'egress by types alone',
    () => [calico('NetworkPolicy', 'close', { types: ['Egress'] }, 'x')],
    (from) => !isX(from),
  ),
  singleStep(
    category,
    'untracked and pre-DNAT policies are no business of pods',
    () => [
      calico('GlobalNetworkPolicy', 'raw', { doNotTrack: true, applyOnForward: true, ingress: [deny] }),
      calico('GlobalNetworkPolicy', 'early', { preDNAT: true, applyOnForward: true, ingress: [deny] }),
    ],
    () => true,
  ),
];

function hostNets(
  {
    pods,
  }: {
    readonly pods: readonly {
      readonly namespace: string;
      readonly name: string;
      readonly addresses: readonly string[];
    }[];
  },
  fullName: string,
): string[] {
  const pod = pods.find(({ namespace, name }) => `${namespace}/${name}` === fullName);
  return (pod?.addresses ?? []).map((text) => `${text}/${text.includes(':') ? 128 : 32}`);
}
