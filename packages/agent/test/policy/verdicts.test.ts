import { PodwireError } from '@podwire/errors';
import { expect, test } from 'vitest';
import { decideConnections } from '../../src/policy/look/verdicts.js';
import { createKnownPolicy } from '../fakes/known-policy.js';

const policy = createKnownPolicy();
const toDb = { source: '10.0.0.1', destination: '10.0.0.2', protocol: 'tcp', port: 5432 };
const decide = (...connections: readonly object[]) => decideConnections(policy, { connections });

test('answers come in the order of the questions, with the rule', () => {
  const [first, second] = decide({ ...toDb, port: 80 }, toDb);
  expect(first).toMatchObject({ verdict: 'deny', port: 80, reason: 'end-of-tier' });
  expect(second).toMatchObject({ verdict: 'allow', port: 5432, path: 'spec.ingress[0]', file: 'db.yaml' });
  expect(decide()).toEqual([]);
});

test('an address is the same however it is written', () => {
  const [answer] = decide({ ...toDb, source: 'FD00::9', destination: 'FD00:0::2' });
  expect(answer).toMatchObject({ verdict: 'deny', destination: 'fd00::2', family: 6 });
});

test.each<[string, unknown, string]>([
  ['no body', undefined, 'the body'],
  [
    'an address that is none',
    { connections: [{ ...toDb, source: 'web' }] },
    'connections.0.source: must be an address',
  ],
  [
    'two families',
    { connections: [{ ...toDb, source: 'fd00::1' }] },
    'connections.0: source and destination',
  ],
  ['a port that is none', { connections: [{ ...toDb, port: 0 }] }, 'connections.0.port'],
  ['a protocol that is none', { connections: [{ ...toDb, protocol: 'gre' }] }, 'connections.0.protocol'],
  ['too many at once', { connections: Array.from({ length: 4_097 }, () => toDb) }, 'connections'],
])('refuses %s', (_, body, message) => {
  const ask = (): unknown => decideConnections(policy, body);
  expect(ask).toThrow(PodwireError);
  expect(ask).toThrow(message);
});
