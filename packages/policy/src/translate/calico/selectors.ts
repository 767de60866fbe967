/** Texts of Calico's selectors, split into what the normal form has: labels of namespaces, and labels of what lies in them. */
import { parseSelector } from '@podwire/objects';
import { impliedLabels, namespaceNameLabel } from '../../model/implied-labels.js';
import type { Selector } from '../../selectors/contract.js';
import { matchSelector } from '../../selectors/match.js';
import { simplifySelector } from '../../selectors/simplify.js';
import { Untranslatable } from '../untranslatable.js';

type Leaf = Extract<Selector, { readonly key: string }>;

export const isGiven = (text: string | undefined): text is string => text !== undefined && text.trim() !== '';

/** @throws Untranslatable: only for what has come past the schema */
export function readSelector(text: string, field: string, ofNamespaces = false): Selector {
  const parsed = parseSelector(text, { ofNamespaces });
  if (parsed.ok) return parsed.selector;
  throw new Untranslatable(field, `is no selector: ${parsed.problem.message}`);
}

/** Every leaf as another selector. */
export function mapLeaves(selector: Selector, change: (leaf: Leaf) => Selector): Selector {
  switch (selector.is) {
    case 'all':
    case 'none':
      return selector;
    case 'not':
      return { is: 'not', of: mapLeaves(selector.of, change) };
    case 'and':
    case 'or':
      return { is: selector.is, of: selector.of.map((part) => mapLeaves(part, change)) };
    default:
      return change(selector);
  }
}

export const renameKey = (selector: Selector, from: string, to: string): Selector =>
  mapLeaves(selector, (leaf) => (leaf.key === from ? { ...leaf, key: to } : leaf));

/** With what is known of a label for everything it is asked of: its value, or that it is absent. */
const settle = (selector: Selector, key: string, value: string | undefined): Selector =>
  mapLeaves(selector, (leaf) => {
    if (leaf.key !== key) return leaf;
    return { is: matchSelector(leaf, value === undefined ? {} : { [key]: value }) ? 'all' : 'none' };
  });

const orchestrator = 'projectcalico.org/orchestrator';

/** Pods all have the label `projectcalico.org/orchestrator`. */
export const ofPods = (selector: Selector): Selector =>
  simplifySelector(settle(selector, orchestrator, 'k8s'));

/** Sets and host endpoints have none of the labels that Calico gives to pods; global ones lie in no namespace either. */
export function ofOthers(selector: Selector, { isGlobal }: { readonly isGlobal: boolean }): Selector {
  const absent = [orchestrator, impliedLabels.serviceAccount, ...(isGlobal ? [impliedLabels.namespace] : [])];
  return simplifySelector(absent.reduce((read, key) => settle(read, key, undefined), selector));
}

export interface NamespaceSelection {
  readonly namespaces: Selector;
  /** True if objects in no namespace are meant, too. */
  readonly isGlobal: boolean;
}

const calicoNamespaceName = 'projectcalico.org/name';

/**
 * `namespaceSelector`. What lies in no namespace has no labels of one: `global()` selects it, and so does what holds without labels
 * (`team != 'a'`), as with Calico itself. `all()` does not.
 */
export function readNamespaces(text: string, field: string): NamespaceSelection {
  const read = readSelector(text, field, true);
  const named = renameKey(read, calicoNamespaceName, namespaceNameLabel);
  return {
    namespaces: simplifySelector(mapLeaves(named, (leaf) => (isNamespaceMark(leaf) ? { is: 'all' } : leaf))),
    isGlobal: matchSelector(read, {}),
  };
}

/** Every namespace has the label: a compiler need not look. */
const isNamespaceMark = ({ is, key }: Leaf): boolean => is === 'has' && key === namespaceNameLabel;

/**
 * `projectcalico.org/namespace == 'a' && rest` is `rest` in the namespace `a`: an index by namespaces finds it. Only parts that
 * must hold are moved.
 */
export function splitNamespaces(
  selector: Selector,
  within: Selector,
): { namespaces: Selector; pods: Selector } {
  const parts = selector.is === 'and' ? selector.of : [selector];
  const isOfNamespace = (part: Selector): boolean =>
    'key' in part ? part.key === impliedLabels.namespace : part.is === 'not' && isOfNamespace(part.of);
  const moved = parts
    .filter(isOfNamespace)
    .map((part) => renameKey(part, impliedLabels.namespace, namespaceNameLabel));
  const rest = parts.filter((part) => !isOfNamespace(part));
  return {
    namespaces: simplifySelector({ is: 'and', of: [within, ...moved] }),
    pods: simplifySelector({ is: 'and', of: rest }),
  };
}
