import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeLabels, encodeLabels, labelKeys, sandboxType } from '../src/labels.js';
import { makeContainerName, makeSandboxName, parseName } from '../src/names.js';

const label = fc.stringMatching(/^[a-z0-9]([a-z0-9.-]{0,20}[a-z0-9])?$/);

test('names come apart again into what they were made of', () => {
  fc.assert(
    fc.property(label, label, label, label, fc.nat(), (container, name, namespace, uid, attempt) => {
      const made = makeContainerName({ name, namespace, uid }, { name: container, attempt });
      const parts = { container, pod: name, namespace, uid, attempt };
      expect(parseName(made)).toEqual(parts);
      expect(parseName(`/${made}_0a1b2c3d`)).toEqual(parts);
    }),
  );
});

test('the name of a sandbox is the documented one', () => {
  const metadata = { name: 'web', namespace: 'prod', uid: 'u-1', attempt: 3 };
  expect(makeSandboxName(metadata)).toBe('k8s_POD_web_prod_u-1_3');
});

test.each([
  [undefined, /pod name is missing/],
  [{ name: 'a_b', namespace: 'n', uid: 'u', attempt: 0 }, /pod name "a_b" has characters/],
  [{ name: 'a', namespace: 'n', uid: '../x', attempt: 0 }, /pod uid/],
])('%j is refused', (metadata, why) => expect(() => makeSandboxName(metadata)).toThrow(why));

test.each(['', '/web', 'k8s_POD_web', 'k8s_POD_web_default_uid_x', 'other_POD_a_b_c_0'])(
  '%j is none of ours',
  (name) => expect(parseName(name)).toBeUndefined(),
);

describe('labels', () => {
  const key = fc
    .string({ minLength: 1 })
    .filter((text) => !text.startsWith('annotation.') && text !== '__proto__');
  const map = fc.dictionary(key, fc.string(), { noNullPrototype: true });

  test('and annotations come apart again', () => {
    fc.assert(
      fc.property(map, map, (labels, annotations) => {
        const stored = encodeLabels(labels, annotations, {
          [labelKeys.type]: sandboxType,
          [labelKeys.containerName]: 'POD',
        });
        expect(decodeLabels(stored, sandboxType)).toEqual({ labels, annotations });
      }),
    );
  });

  test('of this service cannot be had by asking', () => {
    expect(encodeLabels({ [labelKeys.type]: 'container' }, {}, { [labelKeys.type]: sandboxType })).toEqual({
      [labelKeys.type]: sandboxType,
    });
  });

  test('a container keeps its name label', () => {
    const labels = { [labelKeys.containerName]: 'main' };
    expect(decodeLabels(labels, 'container')).toEqual({ labels, annotations: {} });
  });
});
