/** Calico's kinds in the normal form. */
import { describe, expect, it, test } from 'vitest';
import type { AnyObject } from '@podwire/objects';
import { formatSelector, type Subject, translateObject, translateRemoval } from '../src/index.js';
import { calico, describePeer, type Fields, policyOf } from './support/objects.js';

const namespaced = (spec: Fields) => calico('NetworkPolicy', spec, { namespace: 'shop' });
const global = (spec: Fields) => calico('GlobalNetworkPolicy', spec);
const own = "kubernetes.io/metadata.name == 'shop'";

const describeSubject = (subject: Subject): string =>
  subject.is === 'pods' ? describePeer(subject) : `hosts ${formatSelector(subject.labels)}`;

describe('what a policy applies to', () => {
  it.each<[string, AnyObject, string[]]>([
    ['all pods of its namespace', namespaced({}), [`pods all() in ${own}`]],
    ['some of them', namespaced({ selector: "app == 'web'" }), [`pods app == 'web' in ${own}`]],
    [
      'those of a service account',
      namespaced({ serviceAccountSelector: "projectcalico.org/name in {'b', 'a'}" }),
      [`pods all() in ${own} as projectcalico.org/serviceaccount in {'a', 'b'}`],
    ],
    ['pods and host endpoints', global({}), ['pods all() in all()', 'hosts all()']],
    ['both by labels', global({ selector: 'has(a)' }), ['pods has(a) in all()', 'hosts has(a)']],
    ['namespaces by labels', global({ namespaceSelector: "team == 'a'" }), ["pods all() in team == 'a'"]],
    ['all that has a namespace', global({ namespaceSelector: 'all()' }), ['pods all() in all()']],
    [
      'what holds without labels',
      global({ namespaceSelector: "team != 'a'" }),
      ["pods all() in team != 'a'", 'hosts all()'],
    ],
    [
      'a namespace by Calico’s name of it',
      global({ namespaceSelector: "projectcalico.org/name == 'shop'" }),
      [`pods all() in ${own}`],
    ],
    [
      'a namespace by the label of its pods',
      global({ selector: "projectcalico.org/namespace == 'shop' && has(a)" }),
      [`pods has(a) in ${own}`],
    ],
    [
      'a namespace or a label',
      global({ selector: "projectcalico.org/namespace == 'shop' || has(a)" }),
      ["pods has(a) || projectcalico.org/namespace == 'shop' in all()", 'hosts has(a)'],
    ],
    ['pods alone', global({ selector: "projectcalico.org/orchestrator == 'k8s'" }), ['pods all() in all()']],
    ['all but pods', global({ selector: '!has(projectcalico.org/orchestrator)' }), ['hosts all()']],
    [
      'host endpoints alone, untracked',
      global({ doNotTrack: true, applyOnForward: true, selector: 'has(a)' }),
      ['hosts has(a)'],
    ],
  ])('%s', (_, object, subjects) => {
    expect(policyOf(object).subjects.map(describeSubject)).toEqual(subjects);
  });

  it.each([
    [{}, undefined],
    [{ applyOnForward: true }, 'forward'],
    [{ preDNAT: true, applyOnForward: true }, 'pre-dnat'],
    [{ doNotTrack: true, applyOnForward: true }, 'untracked'],
  ])('%j on host endpoints is %s', (spec, hostMode) => {
    expect(policyOf(global(spec)).hostMode).toBe(hostMode);
  });
});

describe('its place and directions', () => {
  it.each<[Fields, Fields]>([
    [{}, { tier: 'default', order: undefined, ingress: [], egress: undefined }],
    [
      { tier: 'security', order: -1.5 },
      { tier: 'security', order: -1.5 },
    ],
    [{ tier: 'admin' }, { tier: 'calico admin' }],
    [
      { types: ['Egress'], ingress: [{ action: 'Allow' }] },
      { ingress: undefined, egress: [] },
    ],
    [{ egress: [{ action: 'Deny' }] }, { ingress: undefined }],
  ])('%j', (spec, expected) => {
    const { tier, order, ingress, egress } = policyOf(namespaced(spec));
    expect({ tier, order, ingress, egress }).toMatchObject(expected);
  });
});

/** `+` holds, `-` must not. */
function conditionsOf(object: AnyObject): string[] {
  const { ingress = [], egress = [] } = policyOf(object);
  return [...ingress, ...egress].flatMap(({ source, destination }) =>
    [...source, ...destination].map(
      ({ peers, negate }) => `${negate === true ? '-' : '+'} ${peers.map(describePeer).join(', ')}`,
    ),
  );
}

describe('ends of a rule', () => {
  const from = (source: Fields) => ({ ingress: [{ action: 'Allow', source }] });
  it.each<[string, AnyObject, string[]]>([
    ['anyone', namespaced(from({})), []],
    [
      'prefixes hold for every namespace',
      namespaced(from({ nets: ['10.0.0.0/8', 'fd00::1'] })),
      ['+ 10.0.0.0/8, fd00::1/128'],
    ],
    ['notNets', namespaced(from({ notNets: ['10.0.0.0/8'] })), ['- 10.0.0.0/8']],
    [
      'a selector in a namespace’s policy',
      namespaced(from({ selector: "app == 'web'" })),
      [`+ pods app == 'web' in ${own}, sets app == 'web' in ${own}`],
    ],
    [
      'a selector in a global policy',
      global(from({ selector: "app == 'web'" })),
      [
        "+ pods app == 'web' in all(), sets app == 'web' in all(), sets app == 'web' in none, hosts app == 'web'",
      ],
    ],
    [
      'namespaces',
      namespaced(from({ namespaceSelector: "team == 'a'", selector: 'has(b)' })),
      ["+ pods has(b) in team == 'a', sets has(b) in team == 'a'"],
    ],
    [
      'all namespaces',
      namespaced(from({ namespaceSelector: 'all()' })),
      ['+ pods all() in all(), sets all() in all()'],
    ],
    [
      'global()',
      namespaced(from({ namespaceSelector: 'global()', selector: 'has(b)' })),
      ['+ sets has(b) in none, hosts has(b)'],
    ],
    [
      'global() or a namespace',
      namespaced(from({ namespaceSelector: "global() || team == 'a'" })),
      ["+ pods all() in team == 'a', sets all() in team == 'a', sets all() in none, hosts all()"],
    ],
    [
      'notSelector in a namespace’s policy',
      namespaced(from({ notSelector: 'has(b)' })),
      [
        `+ pods all() in ${own}, sets all() in ${own}`,
        '- pods has(b) in all(), sets has(b) in all(), sets has(b) in none, hosts has(b)',
      ],
    ],
    [
      'notSelector in a global policy',
      global(from({ notSelector: 'has(b)' })),
      ['- pods has(b) in all(), sets has(b) in all(), sets has(b) in none, hosts has(b)'],
    ],
    [
      'service accounts',
      namespaced(from({ serviceAccounts: { names: ['b', 'a'] } })),
      [`+ pods all() in ${own} as projectcalico.org/serviceaccount in {'a', 'b'}`],
    ],
    ['no service accounts', namespaced(from({ serviceAccounts: {} })), []],
    ['a service as source', namespaced(from({ services: { name: 'web' } })), ['+ service shop/web']],
    [
      'a service as destination',
      global({ egress: [{ action: 'Allow', destination: { services: { name: 'web', namespace: 'b' } } }] }),
      ['+ service b/web with ports'],
    ],
    [
      'all at once',
      namespaced(
        from({
          nets: ['10.0.0.0/8'],
          notNets: ['10.1.0.0/16'],
          selector: 'has(a)',
          namespaceSelector: "t == '1'",
        }),
      ),
      ['+ 10.0.0.0/8', '- 10.1.0.0/16', "+ pods has(a) in t == '1', sets has(a) in t == '1'"],
    ],
  ])('%s', (_, object, conditions) => {
    expect(conditionsOf(object)).toEqual(conditions);
  });
});

describe('a rule', () => {
  const any = { source: [], destination: [], path: 'spec.ingress[0]' };
  test.each<[string, Fields, Fields]>([
    ['Allow', { action: 'Allow' }, { action: 'allow' }],
    ['Deny', { action: 'Deny' }, { action: 'deny' }],
    ['Pass', { action: 'Pass' }, { action: 'pass' }],
    ['Log', { action: 'Log' }, { action: 'log' }],
    ['ipVersion', { action: 'Deny', ipVersion: 6 }, { action: 'deny', family: 6 }],
    ['a protocol', { action: 'Deny', protocol: 'UDP' }, { action: 'deny', services: [{ protocol: 'udp' }] }],
    [
      'a protocol by number',
      { action: 'Deny', protocol: 47 },
      { action: 'deny', services: [{ protocol: 47 }] },
    ],
    ['TCP by number', { action: 'Deny', protocol: '6' }, { action: 'deny', services: [{ protocol: 'tcp' }] }],
    [
      'notProtocol',
      { action: 'Deny', notProtocol: 'TCP' },
      { action: 'deny', notServices: [{ protocol: 'tcp' }] },
    ],
    [
      'ICMP',
      { action: 'Allow', protocol: 'ICMP', icmp: { type: 8, code: 0 } },
      { action: 'allow', family: 4, services: [{ protocol: 1 }], icmp: { type: 8, code: 0 } },
    ],
    [
      'notICMP',
      { action: 'Allow', protocol: 'ICMPv6', notICMP: { type: 128 } },
      { action: 'allow', family: 6, services: [{ protocol: 58 }], notIcmp: { type: 128 } },
    ],
    [
      'ports',
      {
        action: 'Allow',
        protocol: 'TCP',
        destination: { ports: [80, '8000:8080', 'http'], notPorts: ['8001', 'old'] },
      },
      {
        action: 'allow',
        services: [
          {
            protocol: 'tcp',
            ports: [
              { first: 80, last: 80 },
              { first: 8000, last: 8080 },
            ],
          },
          { protocol: 'tcp', namedPorts: ['http'] },
        ],
        notServices: [
          { protocol: 'tcp', ports: [{ first: 8001, last: 8001 }] },
          { protocol: 'tcp', namedPorts: ['old'] },
        ],
      },
    ],
    [
      'ports of the source',
      { action: 'Allow', protocol: 'UDP', source: { ports: [53], notPorts: ['1:9'] } },
      {
        action: 'allow',
        services: [{ protocol: 'udp' }],
        sourcePorts: [{ first: 53, last: 53 }],
        notSourcePorts: [{ first: 1, last: 9 }],
      },
    ],
  ])('%s', (_, rule, expected) => {
    expect(policyOf(namespaced({ ingress: [rule] })).ingress).toEqual([{ ...any, ...expected }]);
  });
});

describe('other kinds', () => {
  it.each<[string, AnyObject, unknown[]]>([
    [
      'a tier',
      calico('Tier/security', { order: 100, defaultAction: 'Pass' }),
      [{ topic: 'tier', key: 'security', value: { name: 'security', order: 100, end: 'pass' } }],
    ],
    [
      'a tier without order',
      calico('Tier/last', {}),
      [
        {
          topic: 'tier',
          key: 'last',
          value: { name: 'last', order: Number.MAX_SAFE_INTEGER - 1, end: 'deny' },
        },
      ],
    ],
    [
      'a tier with a name of ours',
      calico('Tier/baseline', { order: 1 }),
      [{ topic: 'tier', key: 'calico baseline', value: { name: 'calico baseline', order: 1, end: 'deny' } }],
    ],
    ['the tier default', calico('Tier/default', { order: 1_000_000 }), []],
    [
      'a network set',
      calico('NetworkSet', { nets: ['10.0.0.1'] }, { namespace: 'shop', labels: { role: 'x' } }),
      [
        {
          topic: 'network-set',
          key: 'shop/a',
          value: {
            namespace: 'shop',
            name: 'a',
            labels: { role: 'x', 'projectcalico.org/namespace': 'shop' },
            nets: ['10.0.0.1/32'],
          },
        },
      ],
    ],
    [
      'a global network set',
      calico('GlobalNetworkSet', { nets: ['fd00::/8'] }, { labels: { role: 'x' } }),
      [{ topic: 'network-set', key: 'a', value: { name: 'a', labels: { role: 'x' }, nets: ['fd00::/8'] } }],
    ],
    [
      'a host endpoint',
      calico('HostEndpoint', {
        node: 'n1',
        interfaceName: 'eth0',
        expectedIPs: ['10.0.0.1'],
        profiles: ['p'],
      }),
      [
        {
          topic: 'host-endpoint',
          key: 'a',
          value: {
            name: 'a',
            labels: {},
            node: 'n1',
            interfaceName: 'eth0',
            expectedIPs: ['10.0.0.1'],
            profiles: ['p'],
          },
        },
      ],
    ],
    [
      'a profile',
      calico('Profile/kns.shop', { ingress: [{ action: 'Allow' }], labelsToApply: { 'pcns.team': 'a' } }),
      [
        {
          topic: 'profile',
          key: 'kns.shop',
          value: {
            name: 'kns.shop',
            reference: { apiVersion: 'projectcalico.org/v3', kind: 'Profile', name: 'kns.shop' },
            labelsToApply: { 'pcns.team': 'a' },
            ingress: [{ action: 'allow', source: [], destination: [], path: 'spec.ingress[0]' }],
            egress: [],
          },
        },
      ],
    ],
  ])('%s', (_, object, changes) => {
    expect(translateObject(object)).toEqual(changes);
    const { apiVersion, kind, metadata } = object;
    const removal = translateRemoval({
      apiVersion,
      kind,
      name: metadata.name,
      namespace: metadata.namespace,
    });
    expect(removal).toEqual(translateObject(object).map((change) => ({ ...change, value: undefined })));
  });
});
