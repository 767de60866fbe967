import type { Selector } from './contract.js';

/** A label with a value, or with any value. */
export interface RequiredLabel {
  readonly key: string;
  readonly value?: string | undefined;
}

/**
 * Labels by which an index finds candidates: whatever is selected has one of them at least. Undefined: things without
 * any label may be selected, so all must be looked at. An empty list: nothing is ever selected.
 */
export function requiredLabels(selector: Selector): readonly RequiredLabel[] | undefined {
  switch (selector.is) {
    case 'none':
      return [];
    case 'in':
      return selector.values.map((value) => ({ key: selector.key, value }));
    case 'has':
    case 'startsWith':
    case 'endsWith':
    case 'contains':
      return [{ key: selector.key }];
    case 'and':
      return selector.of.map(requiredLabels).reduce(narrower, undefined);
    case 'or':
      return unite(selector.of.map(requiredLabels));
    default:
      // Of a negation nothing is known but that the label may be absent.
      return undefined;
  }
}

type Required = readonly RequiredLabel[] | undefined;

/** Few pairs are better than many, and any pair is better than a key alone. */
const costOf = (labels: readonly RequiredLabel[]): number =>
  labels.reduce((sum, { value }) => sum + (value === undefined ? 1000 : 1), 0);

function narrower(a: Required, b: Required): Required {
  if (a === undefined || b === undefined) return a ?? b;
  return costOf(b) < costOf(a) ? b : a;
}

function unite(parts: readonly Required[]): Required {
  const known = parts.filter((part) => part !== undefined);
  return known.length === parts.length ? known.flat() : undefined;
}
