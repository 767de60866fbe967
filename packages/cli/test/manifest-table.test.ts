/** The table of fields in docs/without-kubernetes.md says what the reader of manifests does. */
import fs from 'node:fs';
import { readManifests } from '@podwire/podlet/manifest';
import { describe, expect, test } from 'vitest';
import { checkoutFile } from '../src/checkout.js';

const page = fs.readFileSync(checkoutFile('docs/without-kubernetes.md'), 'utf8');
const rows = page
  .split('\n')
  .filter((line) => /^\| `(metadata|spec)/.test(line))
  .map((line) => line.split('|').map((cell) => [...cell.matchAll(/`([^`]+)`/g)].map((match) => match[1]!)));

/** What the reader says of a field, whatever its value. */
function complaintsAbout(place: string, field: string): string[] {
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'a' },
    spec: {
      containers: [{ name: 'a', image: 'a', env: [{ name: 'A', valueFrom: {} }], envFrom: [{}] }],
    },
  };
  const steps = place.split(/[.[\]]+/).filter((step) => step !== '');
  let at = pod as unknown as Record<string, unknown>;
  for (const [index, step] of steps.entries())
    at = (at[step] ??= /^\d+$/.test(steps[index + 1] ?? '') ? [] : {}) as Record<string, unknown>;
  at[field] ??= {};
  const read = readManifests(JSON.stringify(pod), {
    source: 'file',
    origin: 'pod.json',
    node: 'node',
    nameSuffix: 'none',
  });
  return read.problems.filter((each) => each.field === `${place}.${field}`).map(({ message }) => message);
}

const isRefused = (messages: readonly string[]): boolean =>
  messages.some((message) => /^(unknown field|is not supported)/.test(message));

test('there is a table', () => {
  expect(rows.map((cells) => cells[1]![0])).toContain('spec.volumes[0]');
  expect(isRefused(complaintsAbout('spec', 'hostNetwrk'))).toBe(true);
});

describe.each(rows.map((cells) => [cells[1]![0]!, cells] as const))('%s', (place, cells) => {
  const [, , supported = [], ignored = [], refused = []] = cells;
  test('supported', () => {
    // A wrong value is complained about; the field itself is known.
    expect(supported.filter((field) => isRefused(complaintsAbout(place, field)))).toEqual([]);
  });
  test('accepted and ignored', () => {
    expect(ignored.flatMap((field) => complaintsAbout(place, field))).toEqual([]);
  });
  test('refused, with a reason', () => {
    expect(refused.filter((field) => !isRefused(complaintsAbout(place, field)))).toEqual([]);
  });
});
