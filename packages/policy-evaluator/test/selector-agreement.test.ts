/** Two readings of the same selectors, written apart from each other, match the same labels. */
import { parseSelector } from '@podwire/objects';
import {
  formatSelector,
  fromLabelSelector,
  matchSelector,
  requiredLabels,
  simplifySelector,
} from '@podwire/policy';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseCalicoSelector } from '../src/selectors/calico.js';
import { matchesSelector } from '../src/selectors/kubernetes.js';
import { arbitraryCalicoSelector, arbitraryLabelSelector } from '../src/generate/selectors.js';
import { runs } from './runs.js';

const keys = ['app', 'tier', 'a.b/c'];
const values = ['web', 'db', 'webdb', ''];
const vocabulary = { keys: [...keys, 'none'], values: () => values };

const labels = fc
  .record({ app: optional(), tier: optional(), 'a.b/c': optional() })
  .map(
    (all) =>
      Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as Record<
        string,
        string
      >,
  );

function optional(): fc.Arbitrary<string | undefined> {
  return fc.constantFrom(undefined, ...values);
}

function readCalico(text: string): Parameters<typeof matchSelector>[0] {
  const parsed = parseSelector(text);
  if (!('selector' in parsed)) throw new Error(`refused: ${text}`);
  return parsed.selector;
}

it('Calico’s grammar', () => {
  fc.assert(
    fc.property(arbitraryCalicoSelector(vocabulary), labels, (text, have) => {
      const expected = parseCalicoSelector(text)(have);
      const selector = readCalico(text);
      expect(matchSelector(selector, have)).toBe(expected);
      expect(matchSelector(simplifySelector(selector), have)).toBe(expected);
      expect(parseCalicoSelector(formatSelector(selector))(have)).toBe(expected);
    }),
    { numRuns: runs(3000) },
  );
});

it('Kubernetes’ selectors', () => {
  fc.assert(
    fc.property(arbitraryLabelSelector(vocabulary), labels, (selector, have) => {
      const expected = matchesSelector(selector, have);
      const read = fromLabelSelector(selector as Parameters<typeof fromLabelSelector>[0]);
      expect(matchSelector(read, have)).toBe(expected);
      expect(matchSelector(simplifySelector(read), have)).toBe(expected);
    }),
    { numRuns: runs(2000) },
  );
});

it('what an index looks for is there wherever the selector matches', () => {
  fc.assert(
    fc.property(arbitraryCalicoSelector(vocabulary), labels, (text, have) => {
      const required = requiredLabels(readCalico(text));
      if (required === undefined || !parseCalicoSelector(text)(have)) return;
      const isThere = ({ key, value }: (typeof required)[number]): boolean =>
        value === undefined ? key in have : have[key] === value;
      expect(required.some(isThere)).toBe(true);
    }),
    { numRuns: runs(3000) },
  );
});
