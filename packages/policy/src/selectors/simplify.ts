import type { Selector } from './contract.js';
import { writeSelector } from './write.js';

const all: Selector = { is: 'all' };
const none: Selector = { is: 'none' };

/**
 * The same selection in fewer words: no `and` within `and`, no double negation, no part twice, parts and values in the order of
 * their text, what is certain taken out. Cheap rules only: two selectors of the same meaning may still differ.
 */
export function simplifySelector(selector: Selector): Selector {
  switch (selector.is) {
    case 'in':
      return selector.values.length === 0
        ? none
        : { ...selector, values: [...new Set(selector.values)].sort() };
    case 'startsWith':
    case 'endsWith':
    case 'contains':
      return selector.value === '' ? { is: 'has', key: selector.key } : selector;
    case 'not':
      return negate(simplifySelector(selector.of));
    case 'and':
      return join('and', selector.of, { neutral: 'all', final: 'none' });
    case 'or':
      return join('or', selector.of, { neutral: 'none', final: 'all' });
    default:
      return selector;
  }
}

function negate(of: Selector): Selector {
  if (of.is === 'not') return of.of;
  if (of.is === 'all') return none;
  if (of.is === 'none') return all;
  return { is: 'not', of };
}

interface Ends {
  /** Adds nothing. */
  readonly neutral: 'all' | 'none';
  /** Decides alone. */
  readonly final: 'all' | 'none';
}

function join(is: 'and' | 'or', of: readonly Selector[], { neutral, final }: Ends): Selector {
  const parts = new Map<string, Selector>();
  for (const part of of.map(simplifySelector).flatMap((each) => (each.is === is ? each.of : [each])))
    parts.set(writeSelector(part), part);
  const left = [...parts].filter(([, part]) => part.is !== neutral);
  if (left.some(([, part]) => part.is === final || parts.has(writeSelector(negate(part)))))
    return { is: final };
  if (left.length === 0) return { is: neutral };
  if (left.length === 1) return left[0]![1];
  const sorted = left.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, part]) => part);
  return { is, of: sorted };
}
