/** Kinds by the words that people type, and what `explain` says of each field. */
import { describe, expect, test } from 'vitest';
import { explainField, findKind, kinds, qualifiedName, requireKind } from '../src/index.js';

describe('a word', () => {
  test.each([
    ['netpol', 'NetworkPolicy'],
    ['NetworkPolicy', 'NetworkPolicy'],
    ['networkpolicies', 'NetworkPolicy'],
    ['networkpolicies.networking.k8s.io', 'NetworkPolicy'],
    ['ANP', 'AdminNetworkPolicy'],
    ['banp', 'BaselineAdminNetworkPolicy'],
    ['cnp', 'ClusterNetworkPolicy'],
    ['ns', 'Namespace'],
  ])('%s is %s', (word, kind) => {
    expect(requireKind(word).kind).toBe(kind);
  });

  test('that is none names the nearest', () => {
    expect(() => requireKind('netpoll')).toThrow('"netpoll" is no kind (did you mean netpol?)');
    expect(() => requireKind('netpol.example.com')).toThrow('did you mean networkpolicies.networking.k8s.io');
  });

  test.each(kinds.map((kind) => [`${kind.apiVersion} ${kind.kind}`, kind] as const))(
    'finds %s',
    (_, kind) => {
      expect(requireKind(qualifiedName(kind))).toBe(kind);
      expect(findKind(kind)).toBe(kind);
    },
  );
});

/** All fields of a kind, at every depth. */
function* fieldsOf(
  path: readonly string[],
  schema: (typeof kinds)[number]['schema'],
): Generator<readonly [string, string]> {
  for (const { name, meaning } of explainField(schema, path)?.fields ?? []) {
    yield [[...path, name].join('.'), meaning];
    yield* fieldsOf([...path, name], schema);
  }
}

describe.each(kinds.map((kind) => [kind.kind, kind] as const))('explain %s', (_, kind) => {
  test('every field has its meaning', () => {
    const fields = [...fieldsOf([], kind.schema)];
    expect(fields.length).toBeGreaterThan(4);
    expect(fields.filter(([, meaning]) => meaning === '')).toEqual([]);
  });

  test('the summary is a sentence', () => {
    expect(kind.summary).toMatch(/^[A-Z].*\.$/);
  });
});

test('a field has type and default', () => {
  const { schema } = requireKind('netpol');
  expect(explainField(schema, ['spec', 'ingress', 'ports'])?.fields).toMatchObject([
    { name: 'protocol', type: 'TCP, UDP or SCTP', required: false, fallback: 'TCP' },
    { name: 'port', type: 'number or text', required: false },
    { name: 'endPort', type: 'number', required: false },
  ]);
  expect(explainField(schema, ['spec', 'ingres'])).toBeUndefined();
});
