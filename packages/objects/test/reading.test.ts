/** Texts to objects: what is refused, and how it says where. */
import { describe, expect, test } from 'vitest';
import { formatObjectProblem, readObjects } from '../src/index.js';

const policy = (spec: string, metadata = 'name: web'): string =>
  `apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {${metadata}}\nspec:\n${spec}`;

const problems = (text: string): string[] => readObjects(text, 'a.yaml').problems.map(formatObjectProblem);

const only = (text: string): unknown => {
  const read = readObjects(text, 'a.yaml');
  expect(read.problems).toEqual([]);
  expect(read.objects).toHaveLength(1);
  return read.objects[0]!.object;
};

describe('a text', () => {
  test.each<[string, string, string[]]>([
    ['is no YAML', 'a: [', ['a.yaml:1: ']],
    ['has a text as a document', 'hello', ['a.yaml:1: must be a map, is "hello"']],
    ['lacks kind and version', '{}', ['a.yaml:1: apiVersion: is missing', 'a.yaml:1: kind: is missing']],
    [
      'has a kind that is nearly one',
      'apiVersion: networking.k8s.io/v1\nkind: NetworkPolcy\nmetadata: {name: a}',
      [
        'a.yaml:2: kind: "NetworkPolcy" of "networking.k8s.io/v1" is not supported (did you mean NetworkPolicy?)',
      ],
    ],
    [
      'has a version of old',
      'kind: NetworkPolicy\napiVersion: extensions/v1beta1\nmetadata: {name: a}',
      ['a.yaml:2: apiVersion: must be networking.k8s.io/v1'],
    ],
    [
      'has a namespace where there is none',
      'apiVersion: v1\nkind: Namespace\nmetadata:\n  name: a\n  namespace: b\n',
      ['a.yaml:5: metadata.namespace: must not be there: objects of this kind belong to the whole cluster'],
    ],
    [
      'has a number for a label',
      'apiVersion: v1\nkind: Namespace\nmetadata:\n  name: a\n  labels:\n    tier: 1\n',
      ['a.yaml:6: metadata.labels.tier: must be text, is 1; write it in quotes'],
    ],
    [
      'has a null for a label',
      'apiVersion: v1\nkind: Namespace\nmetadata:\n  name: a\n  labels:\n    tier:\n',
      ['a.yaml:6: metadata.labels.tier: must be text, is null'],
    ],
    [
      'has a wrong key for a label',
      'apiVersion: v1\nkind: Namespace\nmetadata:\n  name: a\n  labels:\n    "a b": x\n',
      [
        'a.yaml:6: metadata.labels."a b": its key must be the key of a label: NAME or PREFIX/NAME, as example.com/tier',
      ],
    ],
    [
      'lacks a name',
      'apiVersion: v1\nkind: Namespace\nmetadata: {}\n',
      ['a.yaml:3: metadata.name: is missing'],
    ],
  ])('%s', (_, text, expected) => {
    const found = problems(text);
    expect(found).toHaveLength(expected.length);
    for (const [index, line] of expected.entries()) expect(found[index]!.startsWith(line)).toBe(true);
  });

  test('is refused as a whole, with every problem', () => {
    const text = `${policy('  ingres: []\n  policyTypes: [ingress]')}\n---\n${policy('  podSelector: {}', 'name: good')}\n---\n${policy('  podSelector: {matchLabel: {}}', 'name: other')}`;
    const read = readObjects(text, 'a.yaml');
    expect(read.objects).toEqual([]);
    expect(read.problems.map(formatObjectProblem)).toEqual([
      'a.yaml:5: spec.ingres: unknown field (did you mean ingress?)',
      'a.yaml:6: spec.policyTypes[0]: must be Ingress or Egress, is "ingress" (did you mean Ingress?)',
      'a.yaml:18: spec.podSelector.matchLabel: unknown field (did you mean matchLabels?)',
    ]);
    expect(read.refused.map(({ reference }) => reference.name)).toEqual(['web', 'good', 'other']);
  });

  test('has no object twice', () => {
    const twice = `${policy('  podSelector: {}')}\n---\n${policy('  podSelector: {}')}`;
    expect(problems(twice)).toEqual([
      'a.yaml:7: networking.k8s.io/v1 NetworkPolicy default/web stands in this file already, in line 1',
    ]);
  });

  test('may be JSON, and a list', () => {
    const item = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'a' } };
    const list = { apiVersion: 'v1', kind: 'List', items: [item, { ...item, metadata: { name: 'b' } }] };
    expect(readObjects(JSON.stringify(list), 'a.json').objects.map(({ object }) => object)).toEqual(
      list.items,
    );
    const wrong = { ...list, items: [item, { ...item, spc: 1 }] };
    expect(problems(JSON.stringify(wrong, undefined, 1)).join()).toMatch(
      /^a\.yaml:\d+: items\[1\]\.spc: unknown/,
    );
  });

  test('carries what an API server keeps, without harm', () => {
    const text =
      'apiVersion: v1\nkind: Namespace\nmetadata: {name: a, uid: x, resourceVersion: "7", creationTimestamp: null}\nstatus: {phase: Active}';
    expect(only(text)).toEqual({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'a' } });
  });

  test('has lines for its rules', () => {
    const text = policy('  podSelector: {}\n  ingress:\n    - {}\n    - from: []\n  egress:\n    - {}');
    expect(readObjects(text, 'a.yaml').objects[0]!.origin).toEqual({
      file: 'a.yaml',
      line: 1,
      lines: { 'spec.ingress.0': 7, 'spec.ingress.1': 8, 'spec.egress.0': 10 },
    });
  });

  test('is limited in size and depth', () => {
    expect(problems(' '.repeat(10 * 1024 * 1024 + 1))).toEqual(['a.yaml:1: is larger than 10 MiB']);
    expect(problems(`${'['.repeat(100)}${']'.repeat(100)}`)).toEqual([
      'a.yaml:1: is nested more than 64 levels deep',
    ]);
  });

  test('gets the namespace that was asked for', () => {
    const read = readObjects(policy('  podSelector: {}'), 'a.yaml', { namespace: 'shop' });
    expect(read.objects[0]!.object.metadata.namespace).toBe('shop');
  });
});
