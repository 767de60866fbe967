/** Hostile texts. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readManifests } from '../src/manifests.js';
import { place, problemsOf, readOne, withSpec } from './place.js';

describe('limits', () => {
  test('more than 10 MiB', () => {
    expect(problemsOf(' '.repeat(10 * 1024 * 1024 + 1))).toEqual(['web.yaml: is larger than 10 MiB']);
  });

  test.each([
    ['JSON', `${'['.repeat(100)}${']'.repeat(100)}`],
    ['open JSON', '['.repeat(1_000_000)],
    ['YAML', 'a: ['.repeat(100_000)],
    ['lists of YAML', '- '.repeat(100_000)],
    ['a circle', '&a [*a]'],
  ])('%s that is too deep', (_, text) => {
    expect(problemsOf(text)).toEqual(['web.yaml: is nested more than 64 levels deep']);
  });

  test('fifty levels are fine', () => {
    const text = `${withSpec('').trimEnd()}\n  affinity: ${'{a: '.repeat(50)}1${'}'.repeat(50)}`;
    expect(readOne(text).spec['affinity']).toBeDefined();
  });

  test('YAML that would take all memory', { tags: ['long'] }, () => {
    expect(problemsOf('- a\n'.repeat(500_000))).toEqual([
      'web.yaml: is too long for YAML; write it as JSON, or as several files',
    ]);
  });

  test('a map with many keys is read in time, and one that it has twice is found', { tags: ['long'] }, () => {
    const keys = Array.from({ length: 30_000 }, (_, index) => ` k${index}: x\n`).join('');
    const text = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n${keys}`;
    expect(readManifests(text, place).problems).toEqual([]);
    expect(problemsOf(`${text} k7: y\n`)).toEqual(['web.yaml:30005:2: "k7" stands in its map already']);
  });

  test('a long text inside YAML is fine', () => {
    const lines = 'some line of a configuration file\n  '.repeat(20_000);
    const { problems, configMaps } = readManifests(
      `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n big: |\n  ${lines}`,
      place,
    );
    expect(problems).toEqual([]);
    expect(configMaps[0]!.data['big']!.length).toBeGreaterThan(600_000);
  });

  test('so many problems that looking for what was meant would take minutes', { tags: ['long'] }, () => {
    const many = (count: number, prefix: string) =>
      Array.from({ length: count }, (_, index) => prefix + index);
    const mounts = many(50_000, 'data-').map((name) => ({ name, mountPath: `/${name}` }));
    const spec = {
      containers: [{ name: 'a', image: 'b', volumeMounts: mounts }],
      volumes: many(5_000, 'date-').map((name) => ({ name })),
    };
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' }, spec };
    expect(problemsOf(JSON.stringify(pod))).toHaveLength(100);
  });

  test('aliases that unfold without end', () => {
    const level = (n: number): string =>
      `&l${n} [${Array(10)
        .fill(`*l${n - 1}`)
        .join(', ')}]`;
    const bomb = `a: &l0 [x]\n${[1, 2, 3, 4, 5, 6, 7, 8, 9].map((n) => `k${n}: ${level(n)}`).join('\n')}`;
    expect(problemsOf(bomb)).toEqual([expect.stringMatching(/alias/i)]);
  });

  test('no input makes it throw', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.json(), fc.string({ unit: fc.constantFrom(...':-[]{}&*!|>"\'#% \n\ta1') })),
        (text) => {
          const { problems } = readManifests(text, place);
          expect(problems.length).toBeGreaterThan(0);
        },
      ),
      { numRuns: 500 },
    );
  });

  test('nor does any value in any field', () => {
    const good = JSON.parse(
      '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","labels":{"a":"b"}},"spec":{"volumes":[{"name":"v"}],"dnsConfig":{"options":[]},"securityContext":{"sysctls":[]},"containers":[{"name":"a","image":"b","ports":[{"containerPort":1}],"env":[{"name":"A"}],"livenessProbe":{"exec":{"command":["a"]}},"resources":{"limits":{}}}]}}',
    ) as object;
    const paths = pathsOf(good);
    fc.assert(
      fc.property(fc.constantFrom(...paths), fc.jsonValue({ maxDepth: 2 }), (path, value) => {
        const changed = structuredClone(good);
        setAt(changed, path, value);
        const { pods, problems } = readManifests(JSON.stringify(changed), place);
        expect(pods.length === 1).toBe(problems.length === 0);
      }),
      { numRuns: 1000 },
    );
  });
});

type Path = readonly (string | number)[];

function pathsOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  const entries = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return [
    ...(path.length === 0 ? [] : [path]),
    ...entries.flatMap(([key, child]) => pathsOf(child, [...path, key])),
  ];
}

function setAt(root: object, path: Path, value: unknown): void {
  const parent = path.slice(0, -1).reduce((at, key) => (at as Record<string, object>)[key]!, root);
  (parent as Record<string | number, unknown>)[path.at(-1)!] = value;
}
