import { PodwireError } from '@podwire/errors';
import { expect, test } from 'vitest';
import { explainConnection } from '../../src/policy/look/explain.js';
import { createKnownPolicy, dbPolicy, usualPods } from '../fakes/known-policy.js';

const policy = createKnownPolicy();
const toDb = { from: 'pod/shop/web', to: 'pod/shop/db', port: 5432 };

test('names the rule with its object, file and line, for each family', () => {
  const answer = explainConnection(policy, toDb);
  expect(answer).toMatchObject({
    ...{ from: 'pod/shop/web', to: 'pod/shop/db', verdict: 'allow', direction: 'ingress', reason: 'rule' },
    ...{ object: 'NetworkPolicy shop/db', path: 'spec.ingress[0]', file: 'db.yaml', line: 8 },
    labels: { from: { app: 'web' }, to: { app: 'db' } },
  });
  expect(answer.connections.map(({ source }) => source)).toEqual(['10.0.0.1', 'fd00::1']);
});

test.each<[string, object, object]>([
  ['a port by name', { port: 'pg' }, { verdict: 'allow', port: 5432 }],
  [
    'another port',
    { port: 80 },
    { verdict: 'deny', reason: 'end-of-tier', object: 'NetworkPolicy shop/db', line: 1 },
  ],
  ['another pod', { from: 'shop/old' }, { from: 'pod/shop/old', verdict: 'deny', reason: 'end-of-tier' }],
  [
    'a pod without policy',
    { to: 'pod/shop/web', from: 'pod/shop/db' },
    { verdict: 'allow', reason: 'default' },
  ],
  ['a node', { from: 'node/n1' }, { source: '192.0.2.1', verdict: 'deny' }],
  [
    'an address of a pod, as people write it',
    { from: 'FD00:0::1' },
    { from: 'pod/shop/web', verdict: 'allow' },
  ],
  ['an address of others', { from: '203.0.113.9' }, { from: '203.0.113.9', verdict: 'deny' }],
  ['one family', { family: 6 }, { family: 6, connections: [expect.anything()] }],
  [
    'ICMP, which is of IPv4 alone',
    { port: undefined, protocol: 'icmp' },
    { verdict: 'allow', path: 'spec.ingress[1]', connections: [expect.objectContaining({ family: 4 })] },
  ],
  [
    'ICMPv6, which is of IPv6 alone',
    { port: undefined, protocol: 'icmpv6' },
    { verdict: 'deny', connections: [expect.objectContaining({ family: 6 })] },
  ],
])('answers for %s', (_, asked, expected) => {
  expect(explainConnection(policy, { ...toDb, ...asked })).toMatchObject(expected);
});

test('is a denial where one family is denied', () => {
  const onlyFour = dbPolicy.replace('protocol: TCP', 'ipVersion: 4, protocol: TCP');
  const answer = explainConnection(createKnownPolicy(onlyFour), toDb);
  expect(answer.connections.map(({ verdict }) => verdict)).toEqual(['allow', 'deny']);
  expect(answer).toMatchObject({ verdict: 'deny', family: 6 });
});

test('an address that two pods have is that of the one that had it last', () => {
  const pods = [...usualPods, { name: 'new', addresses: ['10.0.0.3'] }];
  const answer = explainConnection(createKnownPolicy(dbPolicy, pods), { ...toDb, from: '10.0.0.3' });
  expect(answer.from).toBe('pod/shop/new');
});

test.each<[string, unknown, string]>([
  ['no body', undefined, 'the body'],
  ['a field that is not known', { ...toDb, colour: 'red' }, 'colour'],
  ['a port that is none', { ...toDb, port: 70_000 }, 'port'],
  ['a protocol that is none', { ...toDb, protocol: 'gre' }, 'protocol'],
  ['TCP without a port', { ...toDb, port: undefined }, 'port: tcp needs one'],
  ['a port by a name that is not there', { ...toDb, port: 'http' }, 'no tcp port called http'],
  ['a port by a name of another protocol', { ...toDb, port: 'pg', protocol: 'udp' }, 'no udp port called pg'],
  ['a pod that is not known', { ...toDb, from: 'pod/shop/unknown' }, 'from: "pod/shop/unknown"'],
  ['a node that is not known', { ...toDb, to: 'node/n9' }, 'known nodes: n1'],
  ['two families', { ...toDb, from: '10.0.0.1', to: 'fd00::2' }, 'no addresses of one family'],
])('refuses %s', (_, body, message) => {
  const ask = (): unknown => explainConnection(policy, body);
  expect(ask).toThrow(PodwireError);
  expect(ask).toThrow(message);
});
