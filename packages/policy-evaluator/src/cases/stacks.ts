/** Several rules and several policies at once. */
import { networkPolicy as policy, type PolicyCase, singleStep } from './case.js';

const category = 'stack';
const from = (labels: object): object => ({ namespaceSelector: { matchLabels: labels } });

export const stackCases: readonly PolicyCase[] = [
  singleStep(
    category,
    'deny all and allow all: the allowing one adds',
    () => [policy('x/deny', {}), policy('x/allow', { ingress: [{}] })],
    () => true,
  ),
  singleStep(
    category,
    'two policies allow two namespaces',
    () => [
      policy('x/one', { ingress: [{ from: [from({ ns: 'y' })] }] }),
      policy('x/two', { ingress: [{ from: [from({ ns: 'z' })] }] }),
    ],
    ({ namespace }, to) => to.namespace !== 'x' || namespace !== 'x',
  ),
  singleStep(
    category,
    'two policies for ports, one for each protocol',
    () => [
      policy('x/tcp', { ingress: [{ ports: [{ protocol: 'TCP', port: 80 }] }] }),
      policy('x/udp', { ingress: [{ ports: [{ protocol: 'UDP', port: 81 }] }] }),
    ],
    (_, to, { protocol, port }) =>
      to.namespace !== 'x' || (protocol === 'tcp' ? port === 80 : protocol === 'udp' && port === 81),
  ),
  singleStep(
    category,
    'peers of one rule do not lend their ports to another',
    () => [
      policy('x/rules', {
        ingress: [
          { from: [from({ ns: 'y' })], ports: [{ protocol: 'TCP', port: 80 }] },
          { from: [from({ ns: 'z' })], ports: [{ protocol: 'TCP', port: 81 }] },
        ],
      }),
    ],
    ({ namespace }, to, { protocol, port }) =>
      to.namespace !== 'x' ||
      (protocol === 'tcp' && ((namespace === 'y' && port === 80) || (namespace === 'z' && port === 81))),
  ),
  singleStep(
    category,
    'egress allows what ingress of the other side denies',
    () => [
      policy('x/out', { policyTypes: ['Egress'], egress: [{}] }),
      policy('y/in', { policyTypes: ['Ingress'] }),
    ],
    (_, to) => to.namespace !== 'y',
  ),
  singleStep(
    category,
    'both sides must allow',
    () => [
      policy('x/out', { policyTypes: ['Egress'], egress: [{ ports: [{ protocol: 'TCP', port: 80 }] }] }),
      policy('y/in', { ingress: [{ ports: [{ protocol: 'TCP', port: 81 }] }] }),
    ],
    (source, to, { protocol, port }) =>
      (source.namespace !== 'x' || (protocol === 'tcp' && port === 80)) &&
      (to.namespace !== 'y' || (protocol === 'tcp' && port === 81)),
  ),
  singleStep(
    category,
    'every namespace open to itself only',
    () =>
      ['x', 'y', 'z'].map((namespace) =>
        policy(`${namespace}/own`, { ingress: [{ from: [{ podSelector: {} }] }] }),
      ),
    (source, to) => source.namespace === to.namespace,
  ),
  singleStep(
    category,
    'deny all for one pod does not take what another policy allows it',
    () => [
      policy('x/one', { podSelector: { matchLabels: { pod: 'a' } } }),
      policy('x/all', { ingress: [{ from: [{ podSelector: { matchLabels: { pod: 'b' } } }] }] }),
    ],
    (source, to) => to.namespace !== 'x' || (source.namespace === 'x' && source.name === 'b'),
  ),
];
