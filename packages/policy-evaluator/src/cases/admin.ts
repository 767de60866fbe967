/** Policies of administrators, alone and around NetworkPolicies. */
import type { AnyObject } from '@podwire/objects';
import { clusterPolicy, makeObject, networkPolicy as policy, type PolicyCase, singleStep } from './case.js';

const category = 'admin';
const namespaces = (name: string): object => ({ namespaces: { matchLabels: { ns: name } } });
const every = { namespaces: {} };
const from = (name: string): object => ({ from: [namespaces(name)] });

const admin = (name: string, priority: number, spec: object): AnyObject =>
  makeObject('policy.networking.k8s.io/v1alpha1', 'AdminNetworkPolicy', name, { priority, ...spec });
const baseline = (spec: object): AnyObject =>
  makeObject('policy.networking.k8s.io/v1alpha1', 'BaselineAdminNetworkPolicy', 'default', spec);

const denyFromY = { subject: namespaces('x'), ingress: [{ action: 'Deny', ...from('y') }] };
const isFromY = (pod: { readonly namespace: string }): boolean => pod.namespace === 'y';
const isX = (pod: { readonly namespace: string }): boolean => pod.namespace === 'x';

const inAdminTier = { tier: 'Admin', priority: 5, subject: namespaces('x') };

const clusterCases: readonly PolicyCase[] = [
  singleStep(
    category,
    'v1alpha2: accept and deny with protocols',
    () => [
      clusterPolicy('protocols', {
        ...inAdminTier,
        ingress: [
          {
            action: 'Accept',
            from: [every],
            protocols: [
              { tcp: { destinationPort: { number: 80 } } },
              { udp: { destinationPort: { range: { start: 80, end: 81 } } } },
              { destinationNamedPort: 'serve-81-sctp' },
            ],
          },
          { action: 'Deny', from: [every] },
        ],
      }),
    ],
    (_, to, { protocol, port }) => !isX(to) || protocol === 'udp' || port === (protocol === 'tcp' ? 80 : 81),
  ),
  singleStep(
    category,
    'v1alpha2: baseline behind NetworkPolicy, by priority',
    () => [
      clusterPolicy('deny', {
        tier: 'Baseline',
        priority: 20,
        subject: every,
        ingress: [{ action: 'Deny', from: [every] }],
      }),
      clusterPolicy('accept', {
        tier: 'Baseline',
        priority: 10,
        subject: every,
        ingress: [{ action: 'Accept', ...from('z') }],
      }),
      policy('x/allow', { ingress: [{ from: [{ podSelector: {} }] }] }),
    ],
    (source, to) => (isX(to) ? isX(source) : source.namespace === 'z'),
  ),
  singleStep(
    category,
    'v1alpha2: pass in the admin tier skips its later policies',
    () => [
      clusterPolicy('pass', { ...inAdminTier, priority: 1, ingress: [{ action: 'Pass', ...from('y') }] }),
      clusterPolicy('deny', { ...inAdminTier, priority: 2, ingress: [{ action: 'Deny', from: [every] }] }),
    ],
    (source, to) => !isX(to) || isFromY(source),
  ),
  singleStep(
    category,
    'v1alpha1 and v1alpha2 share the admin tier',
    () => [
      admin('first', 3, { subject: every, ingress: [{ action: 'Allow', ...from('y') }] }),
      clusterPolicy('second', { ...inAdminTier, priority: 4, ingress: [{ action: 'Deny', from: [every] }] }),
    ],
    (source, to) => !isX(to) || isFromY(source),
  ),
];

export const adminCases: readonly PolicyCase[] = [
  singleStep(
    category,
    'deny from a namespace',
    () => [admin('deny', 10, denyFromY)],
    (source, to) => !(isX(to) && isFromY(source)),
  ),
  singleStep(
    category,
    'allow stands above NetworkPolicy',
    () => [
      admin('allow', 10, { subject: namespaces('x'), ingress: [{ action: 'Allow', ...from('y') }] }),
      policy('x/deny', {}),
    ],
    (source, to) => !isX(to) || isFromY(source),
  ),
  singleStep(
    category,
    'deny stands above NetworkPolicy',
    () => [admin('deny', 10, denyFromY), policy('x/allow', { ingress: [{}] })],
    (source, to) => !(isX(to) && isFromY(source)),
  ),
  singleStep(
    category,
    'pass leaves it to NetworkPolicy, in front of a deny',
    () => [
      admin('pass', 10, { subject: every, ingress: [{ action: 'Pass', ...from('y') }] }),
      admin('deny', 20, { subject: every, ingress: [{ action: 'Deny', from: [every] }] }),
      policy('x/deny', {}),
    ],
    (source, to) => isFromY(source) && !isX(to),
  ),
  singleStep(
    category,
    'lower priority numbers come first',
    () => [
      admin('a-late', 20, denyFromY),
      admin('z-early', 10, { subject: every, ingress: [{ action: 'Allow', ...from('y') }] }),
    ],
    () => true,
  ),
  singleStep(
    category,
    'the first rule of a policy that matches acts',
    () => [
      admin('order', 10, {
        subject: namespaces('x'),
        ingress: [
          {
            action: 'Allow',
            from: [{ pods: { namespaceSelector: {}, podSelector: { matchLabels: { pod: 'b' } } } }],
          },
          { action: 'Deny', from: [every] },
        ],
      }),
    ],
    (source, to) => !isX(to) || source.name === 'b',
  ),
  singleStep(
    category,
    'ports by number, range and name',
    () => [
      admin('ports', 10, {
        subject: namespaces('x'),
        ingress: [
          {
            action: 'Deny',
            from: [every],
            ports: [
              { portNumber: { protocol: 'TCP', port: 80 } },
              { portRange: { protocol: 'UDP', start: 81, end: 90 } },
              { namedPort: 'serve-80-sctp' },
            ],
          },
        ],
      }),
    ],
    (_, to, { protocol, port }) => !isX(to) || port === (protocol === 'udp' ? 80 : 81),
  ),
  singleStep(
    category,
    'egress to networks',
    () => [
      admin('networks', 10, {
        subject: namespaces('x'),
        egress: [{ action: 'Deny', to: [{ networks: ['0.0.0.0/0'] }] }],
      }),
    ],
    (source, _, { family }) => !isX(source) || family === 6,
  ),
  singleStep(
    category,
    'nodes as peers are no pods',
    () => [admin('nodes', 10, { subject: every, egress: [{ action: 'Deny', to: [{ nodes: {} }] }] })],
    () => true,
  ),
  singleStep(
    category,
    'baseline denies where no NetworkPolicy selects',
    () => [
      baseline({ subject: every, ingress: [{ action: 'Deny', from: [every] }] }),
      policy('x/allow', { ingress: [{ from: [{ namespaceSelector: { matchLabels: { ns: 'y' } } }] }] }),
    ],
    (source, to) => isX(to) && isFromY(source),
  ),
  singleStep(
    category,
    'admin pass goes on to the baseline',
    () => [
      admin('pass', 10, { subject: every, ingress: [{ action: 'Pass', from: [every] }] }),
      admin('deny', 11, { subject: every, ingress: [{ action: 'Deny', from: [every] }] }),
      baseline({
        subject: namespaces('x'),
        ingress: [
          { action: 'Allow', ...from('y') },
          { action: 'Deny', from: [every] },
        ],
      }),
    ],
    (source, to) => !isX(to) || isFromY(source),
  ),
  ...clusterCases,
];
