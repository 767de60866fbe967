/** The list of fields in docs/without-kubernetes.md says what the reader of manifests does. */
import fs from 'node:fs';
import { readManifests } from '@podwire/pod-spec';
import { describe, expect, test } from 'vitest';
import { checkoutFile } from '../src/checkout.js';

const page = fs.readFileSync(checkoutFile('docs/without-kubernetes.md'), 'utf8');

const namesIn = (text: string): string[] => [...text.matchAll(/`([^`]+)`/g)].map((match) => match[1]!);

/** The items `- \`spec.x\`` of the page, each with its supported, ignored and refused fields. */
const objects = [...page.matchAll(/^- `((?:metadata|spec)[^`]*)`\n((?: {2}.*\n)+)/gm)].map(
  ([, place, items]) => {
    const fieldsOf = (kind: string): string[] =>
      namesIn(new RegExp(`^  - ${kind}:([^]*?)(?=^  - |$(?![^]))`, 'm').exec(items!)?.[1] ?? '');
    return {
      place: place!,
      supported: fieldsOf('Supported'),
      ignored: fieldsOf('Accepted and ignored'),
      refused: fieldsOf('Refused'),
    };
  },
);

/** Complaints of the reader about a field, whatever its value. */
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

test('the page lists fields, and the reader refuses a misspelt one', () => {
  expect(objects.map(({ place }) => place)).toContain('spec.volumes[0]');
  expect(objects.every(({ supported }) => supported.length > 0)).toBe(true);
  expect(objects.find(({ place }) => place === 'spec.volumes[0]')!.refused).toContain('image');
  expect(isRefused(complaintsAbout('spec', 'hostNetwrk'))).toBe(true);
});

describe.each(objects)('$place', ({ place, supported, ignored, refused }) => {
  test('the reader knows the supported fields', () => {
    // A wrong value is complained about; the field itself is known.
    expect(supported.filter((field) => isRefused(complaintsAbout(place, field)))).toEqual([]);
  });
  test('the reader accepts the ignored fields without a word', () => {
    expect(ignored.flatMap((field) => complaintsAbout(place, field))).toEqual([]);
  });
  test('the reader refuses the refused fields with a reason', () => {
    expect(refused.filter((field) => !isRefused(complaintsAbout(place, field)))).toEqual([]);
  });
});
