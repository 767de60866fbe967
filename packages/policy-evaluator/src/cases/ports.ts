/** Ports and protocols: numbers, names, ranges, several, none. */
import type { Pod } from '../cluster.js';
import { networkPolicy as policy, type PolicyCase, type Probe, singleStep } from './case.js';

const category = 'port';
const isTarget = (pod: Pod): boolean => pod.namespace === 'x' && pod.name === 'a';
const target = { podSelector: { matchLabels: { pod: 'a' } } };

function bothWays(name: string, ports: readonly object[], isOpen: (probe: Probe) => boolean): PolicyCase[] {
  return [
    singleStep(
      category,
      `in, ${name}`,
      () => [policy('x/in', { ...target, ingress: [{ ports }] })],
      (_, to, probe) => !isTarget(to) || isOpen(probe),
    ),
    singleStep(
      category,
      `out, ${name}`,
      () => [policy('x/out', { ...target, policyTypes: ['Egress'], egress: [{ ports }] })],
      (from, _, probe) => !isTarget(from) || isOpen(probe),
    ),
  ];
}

const protocols = ['tcp', 'udp', 'sctp'] as const;

export const portCases: readonly PolicyCase[] = [
  ...bothWays('empty list', [], () => true),
  ...protocols.flatMap((protocol) => {
    const upper = protocol.toUpperCase();
    return [
      ...bothWays(
        `${protocol} 80`,
        [{ protocol: upper, port: 80 }],
        (probe) => probe.protocol === protocol && probe.port === 80,
      ),
      ...bothWays(`all of ${protocol}`, [{ protocol: upper }], (probe) => probe.protocol === protocol),
      ...bothWays(
        `${protocol} by name`,
        [{ protocol: upper, port: `serve-81-${protocol}` }],
        (probe) => probe.protocol === protocol && probe.port === 81,
      ),
      ...bothWays(
        `${protocol} 79 to 80`,
        [{ protocol: upper, port: 79, endPort: 80 }],
        (probe) => probe.protocol === protocol && probe.port === 80,
      ),
    ];
  }),
  ...bothWays('protocol absent', [{ port: 80 }], ({ protocol, port }) => protocol === 'tcp' && port === 80),
  ...bothWays('name of another protocol', [{ protocol: 'UDP', port: 'serve-80-tcp' }], () => false),
  ...bothWays('name that no pod has', [{ protocol: 'TCP', port: 'nothing' }], () => false),
  ...bothWays(
    'range of one',
    [{ protocol: 'TCP', port: 81, endPort: 81 }],
    ({ protocol, port }) => protocol === 'tcp' && port === 81,
  ),
  ...bothWays(
    'every port',
    [{ protocol: 'TCP', port: 1, endPort: 65_535 }],
    ({ protocol }) => protocol === 'tcp',
  ),
  ...bothWays(
    'a number and a name',
    [
      { protocol: 'TCP', port: 80 },
      { protocol: 'UDP', port: 'serve-81-udp' },
    ],
    ({ protocol, port }) => (protocol === 'tcp' && port === 80) || (protocol === 'udp' && port === 81),
  ),
  ...bothWays(
    'ranges that overlap',
    [
      { protocol: 'TCP', port: 70, endPort: 80 },
      { protocol: 'TCP', port: 80, endPort: 81 },
    ],
    ({ protocol }) => protocol === 'tcp',
  ),
];
