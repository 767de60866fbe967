/**
 * A selector over labels, whichever language it was written in: Kubernetes' LabelSelector, or Calico's grammar. Data, so that
 * equal selectors have equal text (`formatSelector`) and an index can find what a change of labels touches.
 */
export type Selector =
  | { readonly is: 'all' }
  | { readonly is: 'none' }
  | { readonly is: 'has'; readonly key: string }
  | { readonly is: 'in'; readonly key: string; readonly values: readonly string[] }
  | { readonly is: 'startsWith' | 'endsWith' | 'contains'; readonly key: string; readonly value: string }
  | { readonly is: 'not'; readonly of: Selector }
  | { readonly is: 'and' | 'or'; readonly of: readonly Selector[] };
