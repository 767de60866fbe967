import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hashContainer } from '../../src/lifecycle/spec-hash.js';
import type { Container } from '@podwire/pod-spec';
import { makeContainer } from './make-pod.js';

/** The same content with its keys the other way round, at every depth. */
function turned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(turned);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, each]) => [key, turned(each)]),
  );
}

const containers = fc
  .record({
    image: fc.string(),
    command: fc.array(fc.string()),
    env: fc.array(fc.record({ name: fc.string(), value: fc.string() })),
    resources: fc.record({
      limits: fc.dictionary(fc.constantFrom('cpu', 'memory'), fc.constantFrom('1', '2')),
    }),
    securityContext: fc.record({ privileged: fc.boolean(), runAsUser: fc.nat() }, { requiredKeys: [] }),
  })
  .map((changes) => makeContainer(changes));

test('the order of keys changes nothing', () => {
  fc.assert(
    fc.property(containers, (container) => {
      expect(hashContainer(turned(container) as Container)).toBe(hashContainer(structuredClone(container)));
    }),
  );
});

test('fields that are empty or absent are the same, so that a new default restarts nothing', () => {
  const later = { ...makeContainer(), somethingNew: [], somethingElse: {}, switchedOff: false };
  expect(hashContainer(later)).toBe(hashContainer(makeContainer()));
});

test.each<[string, Partial<Container>, Partial<Container>]>([
  ['order of arguments', { args: ['a', 'b'] }, { args: ['b', 'a'] }],
  ['an empty argument', { args: ['a'] }, { args: ['a', ''] }],
  ['a port', { ports: [] }, { ports: [{ containerPort: 1, protocol: 'TCP' }] }],
  ['runAsNonRoot that overrules the pod’s', {}, { securityContext: { runAsNonRoot: false } }],
  ['escalation', {}, { securityContext: { allowPrivilegeEscalation: false } }],
])('%s is a difference', (_, one, other) => {
  expect(hashContainer(makeContainer(one))).not.toBe(hashContainer(makeContainer(other)));
});
