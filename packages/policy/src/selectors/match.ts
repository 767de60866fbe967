import type { Labels } from '../model/facts.js';
import type { Selector } from './contract.js';

/**
 * True if labels are selected. A label that is not there is in no set of values, and neither starts, ends nor contains:
 * so `!=`, `not in` and Kubernetes' NotIn hold for objects without the label, as both languages say.
 */
export function matchSelector(selector: Selector, labels: Labels): boolean {
  switch (selector.is) {
    case 'all':
      return true;
    case 'none':
      return false;
    case 'not':
      return !matchSelector(selector.of, labels);
    case 'and':
      return selector.of.every((part) => matchSelector(part, labels));
    case 'or':
      return selector.of.some((part) => matchSelector(part, labels));
    default:
      return matchValue(selector, valueOf(labels, selector.key));
  }
}

type Comparison = Extract<Selector, { readonly key: string }>;

/** Labels are maps from outside: `constructor` is no label unless the object sets it. */
const valueOf = (labels: Labels, key: string): string | undefined =>
  Object.hasOwn(labels, key) ? labels[key] : undefined;

function matchValue(comparison: Comparison, value: string | undefined): boolean {
  if (value === undefined) return false;
  switch (comparison.is) {
    case 'has':
      return true;
    case 'in':
      return comparison.values.includes(value);
    case 'startsWith':
      return value.startsWith(comparison.value);
    case 'endsWith':
      return value.endsWith(comparison.value);
    case 'contains':
      return value.includes(comparison.value);
  }
}
