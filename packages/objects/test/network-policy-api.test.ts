/** Both forms of network-policy-api: what their schemas take and refuse. */
import { describe, expect, test } from 'vitest';
import { formatPath } from '@podwire/apimachinery';
import { checkObject } from '../src/index.js';

type Fields = Readonly<Record<string, unknown>>;

const all = { namespaces: {} };
const alpha1 = 'policy.networking.k8s.io/v1alpha1';

const admin = (spec: Fields) => ({
  apiVersion: alpha1,
  kind: 'AdminNetworkPolicy',
  metadata: { name: 'a' },
  spec: { priority: 10, subject: all, ...spec },
});
const baseline = (spec: Fields, name = 'default') => ({
  apiVersion: alpha1,
  kind: 'BaselineAdminNetworkPolicy',
  metadata: { name },
  spec: { subject: all, ...spec },
});
const cluster = (spec: Fields) => ({
  apiVersion: 'policy.networking.k8s.io/v1alpha2',
  kind: 'ClusterNetworkPolicy',
  metadata: { name: 'a' },
  spec: { tier: 'Admin', priority: 10, subject: all, ...spec },
});
const pods = { namespaceSelector: {}, podSelector: { matchLabels: { app: 'web' } } };

function problemsOf(value: unknown): string[] {
  const checked = checkObject(value);
  return checked.ok ? [] : checked.problems.map(({ path, message }) => `${formatPath(path)}: ${message}`);
}

describe('taken', () => {
  test.each<[string, unknown]>([
    ['an admin policy without rules', admin({})],
    [
      'all peers of egress',
      admin({
        egress: [
          { action: 'Pass', to: [all, { pods }, { nodes: {} }, { networks: ['10.0.0.0/8', 'fd00::/8'] }] },
        ],
      }),
    ],
    [
      'all ports',
      admin({
        ingress: [
          {
            name: 'x',
            action: 'Allow',
            from: [all],
            ports: [
              { portNumber: { port: 80 } },
              { portNumber: { protocol: 'SCTP', port: 80 } },
              { portRange: { start: 1, end: 9 } },
              { namedPort: 'http' },
            ],
          },
        ],
      }),
    ],
    [
      'a baseline',
      baseline({
        ingress: [{ action: 'Deny', from: [{ pods }] }],
        egress: [{ action: 'Allow', to: [{ nodes: { matchLabels: { a: 'b' } } }] }],
      }),
    ],
    [
      'a cluster policy',
      cluster({
        ingress: [
          {
            action: 'Accept',
            from: [all],
            protocols: [
              { tcp: { destinationPort: { number: 80 } } },
              { udp: { destinationPort: { range: { start: 1, end: 2 } } } },
              { destinationNamedPort: 'http' },
            ],
          },
        ],
      }),
    ],
    [
      'a cluster policy of the baseline',
      cluster({
        tier: 'Baseline',
        subject: { pods },
        egress: [{ action: 'Deny', to: [{ networks: ['0.0.0.0/0'] }] }],
      }),
    ],
  ])('%s', (_, value) => {
    expect(problemsOf(value)).toEqual([]);
  });
});

describe('refused', () => {
  const egress = (rule: Fields) => ({ egress: [{ action: 'Deny', to: [all], ...rule }] });
  test.each<[string, unknown, string]>([
    ['priority 1001', admin({ priority: 1001 }), 'spec.priority: must be at most 1000, is 1001'],
    ['no priority', admin({ priority: undefined }), 'spec.priority: is missing'],
    ['a subject of nothing', admin({ subject: {} }), 'spec.subject: must have exactly one field'],
    [
      'a subject of both',
      admin({ subject: { namespaces: {}, pods } }),
      'spec.subject: must have exactly one field',
    ],
    [
      'a rule without peers',
      admin({ ingress: [{ action: 'Deny', from: [] }] }),
      'spec.ingress[0].from: must have at least 1 entries, has 0',
    ],
    [
      'Accept in v1alpha1',
      admin(egress({ action: 'Accept' })),
      'spec.egress[0].action: must be Allow, Deny or Pass, is "Accept"',
    ],
    [
      'Pass in the baseline',
      baseline(egress({ action: 'Pass' })),
      'spec.egress[0].action: must be Allow or Deny, is "Pass"',
    ],
    ['a baseline of another name', baseline({}, 'other'), 'metadata.name: must be default'],
    [
      'nodes as a source',
      admin({ ingress: [{ action: 'Deny', from: [{ nodes: {} }] }] }),
      'spec.ingress[0].from[0].nodes: unknown field',
    ],
    [
      'two fields of a port',
      admin(egress({ ports: [{ namedPort: 'a', portNumber: { port: 1 } }] })),
      'spec.egress[0].ports[0]: must have exactly one',
    ],
    [
      'a range backwards',
      admin(egress({ ports: [{ portRange: { start: 9, end: 1 } }] })),
      'spec.egress[0].ports[0].portRange.end: must not be below',
    ],
    [
      'a name beside nodes',
      admin(egress({ to: [{ nodes: {} }], ports: [{ namedPort: 'a' }] })),
      'spec.egress[0].ports: must name no port',
    ],
    [
      '101 rules',
      admin({ ingress: Array(101).fill({ action: 'Deny', from: [all] }) }),
      'spec.ingress: must have at most 100 entries, has 101',
    ],
    [
      'a prefix twice',
      admin(egress({ to: [{ networks: ['10.0.0.0/8', '10.0.0.1/8'] }] })),
      'spec.egress[0].to[0].networks: must not name a prefix twice',
    ],
    [
      'domain names',
      cluster(egress({ to: [{ domainNames: ['example.com'] }] })),
      'spec.egress[0].to[0].domainNames: is not supported',
    ],
    [
      'Allow in v1alpha2',
      cluster(egress({ action: 'Allow' })),
      'spec.egress[0].action: must be Accept, Deny or Pass, is "Allow"',
    ],
    [
      'a tier of its own',
      cluster({ tier: 'admin' }),
      'spec.tier: must be Admin or Baseline, is "admin" (did you mean Admin?)',
    ],
    [
      '26 rules',
      cluster({ ingress: Array(26).fill({ action: 'Deny', from: [all] }) }),
      'spec.ingress: must have at most 25 entries, has 26',
    ],
    ['ports in v1alpha2', cluster(egress({ ports: [] })), 'spec.egress[0].ports: unknown field'],
    [
      'a range of one',
      cluster(egress({ protocols: [{ tcp: { destinationPort: { range: { start: 5, end: 5 } } } }] })),
      'spec.egress[0].protocols[0].tcp.destinationPort.range.end: must be above',
    ],
    [
      'a protocol of nothing',
      cluster(egress({ protocols: [{}] })),
      'spec.egress[0].protocols[0]: must have exactly one',
    ],
    [
      'tcp of nothing',
      cluster(egress({ protocols: [{ tcp: {} }] })),
      'spec.egress[0].protocols[0].tcp.destinationPort: is missing',
    ],
    [
      'a name beside prefixes',
      cluster(egress({ to: [{ networks: ['::/0'] }], protocols: [{ destinationNamedPort: 'a' }] })),
      'spec.egress[0].protocols: must name no port',
    ],
  ])('%s', (_, value, expected) => {
    const found = problemsOf(value);
    expect(found).toHaveLength(1);
    expect(found[0]!.slice(0, expected.length)).toBe(expected);
  });
});
