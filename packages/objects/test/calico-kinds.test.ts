/** Kinds of `projectcalico.org/v3`: what their schemas take, fill in and refuse. */
import { describe, expect, test } from 'vitest';
import { formatPath } from '@podwire/apimachinery';
import { type AnyObject, checkObject, kinds, readPorts, readProtocol } from '../src/index.js';

type Fields = Readonly<Record<string, unknown>>;

const make = (kind: string, spec: Fields, name = 'a') => ({
  apiVersion: 'projectcalico.org/v3',
  kind,
  metadata: { name },
  spec,
});
const policy = (spec: Fields) => make('NetworkPolicy', spec);
const global = (spec: Fields) => make('GlobalNetworkPolicy', spec);
const rule = (fields: Fields) => policy({ ingress: [{ action: 'Allow', ...fields }] });

function problemsOf(value: unknown): string[] {
  const checked = checkObject(value);
  return checked.ok ? [] : checked.problems.map(({ path, message }) => `${formatPath(path)}: ${message}`);
}

function specOf(value: unknown): unknown {
  const checked = checkObject(value);
  if (!checked.ok) throw new Error(problemsOf(value).join('\n'));
  return (checked.object as AnyObject & { readonly spec: unknown }).spec;
}

describe('taken and filled in', () => {
  test.each<[string, unknown, unknown]>([
    ['a policy of nothing', policy({}), { tier: 'default', selector: '', types: ['Ingress'] }],
    [
      'types of a policy with egress rules alone',
      policy({ egress: [{ action: 'Deny' }] }),
      { tier: 'default', selector: '', types: ['Egress'], egress: [{ action: 'Deny' }] },
    ],
    [
      'types of a policy with rules of both',
      policy({ ingress: [{ action: 'Log' }], egress: [{ action: 'Pass' }] }),
      {
        tier: 'default',
        selector: '',
        types: ['Ingress', 'Egress'],
        ingress: [{ action: 'Log' }],
        egress: [{ action: 'Pass' }],
      },
    ],
    [
      'a global policy',
      global({ order: -1.5, selector: 'has(role)', namespaceSelector: 'all()', applyOnForward: true }),
      {
        tier: 'default',
        order: -1.5,
        selector: 'has(role)',
        namespaceSelector: 'all()',
        types: ['Ingress'],
        doNotTrack: false,
        preDNAT: false,
        applyOnForward: true,
      },
    ],
    ['a tier', make('Tier', {}), { defaultAction: 'Deny' }],
    [
      'the tier default',
      make('Tier', { order: 1_000_000 }, 'default'),
      { order: 1_000_000, defaultAction: 'Deny' },
    ],
    [
      'a network set with an address, and bits beyond the length',
      make('NetworkSet', { nets: ['10.0.0.1', '10.1.2.3/8', 'FD00::1'] }),
      { nets: ['10.0.0.1/32', '10.0.0.0/8', 'fd00::1/128'] },
    ],
    ['a global network set', make('GlobalNetworkSet', {}), { nets: [] }],
    [
      'a host endpoint',
      make('HostEndpoint', { node: 'n1', interfaceName: '*', expectedIPs: ['FD00::1'] }),
      { node: 'n1', interfaceName: '*', expectedIPs: ['fd00::1'], profiles: [] },
    ],
    [
      'a profile',
      make('Profile', { ingress: [{ action: 'Allow' }], labelsToApply: { 'pcns.team': 'a' } }),
      { ingress: [{ action: 'Allow' }], labelsToApply: { 'pcns.team': 'a' } },
    ],
  ])('%s', (_, value, spec) => {
    expect(specOf(value)).toEqual(spec);
  });

  test.each<[string, Fields]>([
    ['ports of a destination', { protocol: 'TCP', destination: { ports: [80, '81', '8000:8080', 'http'] } }],
    ['ports of a source', { protocol: 'udp', source: { ports: [53], notPorts: ['1024:65535'] } }],
    ['protocols by number', { protocol: 47, notProtocol: '6' }],
    ['ICMP', { protocol: 'ICMP', icmp: { type: 8, code: 0 }, ipVersion: 4 }],
    ['notICMP', { protocol: 'ICMPv6', notICMP: { type: 128 } }],
    ['a service as source', { source: { services: { name: 'web' }, ports: [] } }],
    ['global()', { source: { namespaceSelector: "global() || team == 'a'" } }],
    ['service accounts', { source: { serviceAccounts: { names: ['a', 'b'] } } }],
    ['notes', { metadata: { annotations: { why: 'because' } } }],
  ])('a rule with %s', (_, fields) => {
    expect(problemsOf(rule(fields))).toEqual([]);
  });
});

const onlyIngress = 'spec.ingress[0]';

describe('refused by name', () => {
  test.each<[string, unknown, string]>([
    [
      'a selector that cannot be read',
      policy({ selector: "role = 'a'" }),
      'spec.selector: is no selector: at character 6, "=" means nothing here; write ==',
    ],
    [
      'global() in a selector',
      rule({ source: { selector: 'global()' } }),
      `${onlyIngress}.source.selector: is no selector: at character 1, global() stands in a namespaceSelector only`,
    ],
    [
      'global() of a policy',
      global({ namespaceSelector: 'global()' }),
      'spec.namespaceSelector: is no selector: at character 1, global() stands in a namespaceSelector only',
    ],
    [
      'HTTP',
      rule({ http: { methods: ['GET'] } }),
      `${onlyIngress}.http: is not supported: what is in a connection is not looked at`,
    ],
    [
      'domains',
      policy({ egress: [{ action: 'Allow', destination: { domains: ['a.org'] } }] }),
      'spec.egress[0].destination.domains: is not supported: nothing here resolves domain names',
    ],
    [
      'labels of service accounts',
      rule({ source: { serviceAccounts: { selector: "team == 'a'" } } }),
      `${onlyIngress}.source.serviceAccounts.selector: is not supported: labels of service accounts are not known here; use \`names\``,
    ],
    [
      'labels of service accounts of a policy',
      policy({ serviceAccountSelector: "team == 'a'" }),
      "spec.serviceAccountSelector: asks for the label team: of service accounts only the name is known here (projectcalico.org/name == '…')",
    ],
    [
      'a misspelt field',
      policy({ selektor: 'all()' }),
      'spec.selektor: unknown field (did you mean selector?)',
    ],
    [
      'an action',
      rule({ action: 'allow' }),
      `${onlyIngress}.action: must be Allow, Deny, Pass or Log, is "allow" (did you mean Allow?)`,
    ],
    [
      'a protocol',
      rule({ protocol: 'TPC' }),
      `${onlyIngress}.protocol: must be TCP, UDP, ICMP, ICMPv6, SCTP, UDPLite, or a number from 1 to 255`,
    ],
    [
      'protocol 0',
      rule({ protocol: 0 }),
      `${onlyIngress}.protocol: must be TCP, UDP, ICMP, ICMPv6, SCTP, UDPLite, or a number from 1 to 255`,
    ],
    [
      'ports without protocol',
      rule({ destination: { ports: [80] } }),
      `${onlyIngress}.destination.ports: needs the protocol TCP, UDP or SCTP`,
    ],
    [
      'a range backwards',
      rule({ protocol: 'TCP', destination: { ports: ['90:80'] } }),
      `${onlyIngress}.destination.ports[0]: must be a number up to 65535, a range as 8000:8080, or the name of a port`,
    ],
    [
      'a name for a source',
      rule({ protocol: 'TCP', source: { ports: ['http'] } }),
      `${onlyIngress}.source.ports[0]: is the name of a port, which is not supported for a source; write its number`,
    ],
    [
      'ICMP without protocol',
      rule({ icmp: { type: 8 } }),
      `${onlyIngress}.icmp: needs the protocol ICMP or ICMPv6`,
    ],
    [
      'a code without type',
      rule({ protocol: 'ICMP', icmp: { code: 0 } }),
      `${onlyIngress}.icmp.code: needs \`type\``,
    ],
    [
      'ICMP of IPv6',
      rule({ protocol: 'ICMP', ipVersion: 6 }),
      `${onlyIngress}.protocol: is ICMP, which is of \`ipVersion: 4\``,
    ],
    [
      'a service as destination of ingress',
      rule({ destination: { services: { name: 'a' } } }),
      `${onlyIngress}.destination.services: must not be there in a rule of ingress`,
    ],
    [
      'a service beside a selector',
      rule({ source: { services: { name: 'a' }, selector: 'all()' } }),
      `${onlyIngress}.source.selector: must not stand beside \`services\``,
    ],
    [
      'a service without namespace',
      global({ ingress: [{ action: 'Allow', source: { services: { name: 'a' } } }] }),
      `${onlyIngress}.source.services.namespace: is missing`,
    ],
    [
      'preDNAT with egress',
      global({ preDNAT: true, applyOnForward: true, egress: [{ action: 'Allow' }] }),
      'spec.egress: must not be there with `preDNAT: true`',
    ],
    [
      'preDNAT alone',
      global({ preDNAT: true }),
      'spec.applyOnForward: must be true with `preDNAT: true` or `doNotTrack: true`',
    ],
    [
      'preDNAT and doNotTrack',
      global({ preDNAT: true, doNotTrack: true, applyOnForward: true }),
      'spec.preDNAT: must not be true beside `doNotTrack: true`',
    ],
    ['doNotTrack in a namespace', policy({ doNotTrack: true }), 'spec.doNotTrack: unknown field'],
    [
      'a tier default that passes',
      make('Tier', { defaultAction: 'Pass' }, 'default'),
      'spec.defaultAction: must be Deny for the tier default',
    ],
    [
      'a net',
      make('NetworkSet', { nets: ['10.0.0.0/33'] }),
      'spec.nets[0]: must be an address or a prefix: 10.0.0.1, 10.0.0.0/8 or fd00::/8',
    ],
    [
      'a host endpoint of nothing',
      make('HostEndpoint', { node: 'n1' }),
      'spec: must have interfaceName or expectedIPs',
    ],
    [
      'names of ports of a host',
      make('HostEndpoint', { node: 'n1', interfaceName: 'eth0', ports: [] }),
      'spec.ports: is not supported: ports of host endpoints have no names here; write their numbers in the rules',
    ],
    [
      'a namespace of a global kind',
      { ...global({}), metadata: { name: 'a', namespace: 'b' } },
      'metadata.namespace: must not be there: objects of this kind belong to the whole cluster',
    ],
    [
      'a staged policy',
      make('StagedNetworkPolicy', {}),
      'kind: "StagedNetworkPolicy" of "projectcalico.org/v3" is not supported (did you mean NetworkPolicy?)',
    ],
  ])('%s', (_, value, problem) => {
    expect(problemsOf(value)).toContain(problem);
  });
});

test.each([
  [80, { first: 80, last: 80 }],
  ['80', { first: 80, last: 80 }],
  ['0:65535', { first: 0, last: 65_535 }],
  ['80:79', undefined],
  ['65536', undefined],
  ['http', undefined],
])('ports %j are %j', (port, range) => {
  expect(readPorts(port)).toEqual(range);
});

test.each([
  ['TCP', 6],
  ['tcp', 6],
  ['ICMPv6', 58],
  ['47', 47],
  [47, 47],
  ['toString', undefined],
])('the protocol %j is %j', (protocol, number) => {
  expect(readProtocol(protocol)).toBe(number);
});

test('the kinds of Calico', () => {
  const own = kinds.filter(({ apiVersion }) => apiVersion === 'projectcalico.org/v3');
  expect(own.map(({ kind }) => kind)).toEqual([
    'Tier',
    'NetworkPolicy',
    'GlobalNetworkPolicy',
    'NetworkSet',
    'GlobalNetworkSet',
    'HostEndpoint',
    'Profile',
  ]);
});
