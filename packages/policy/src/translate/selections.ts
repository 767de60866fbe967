/** Selectors as all kinds need them. */
import type { LabelSelector } from '@podwire/objects';
import { namespaceNameLabel } from '../model/implied-labels.js';
import type { PodSelection } from '../model/policy.js';
import type { Selector } from '../selectors/contract.js';
import { fromLabelSelector } from '../selectors/label-selector.js';
import { simplifySelector } from '../selectors/simplify.js';

export const everything: Selector = { is: 'all' };

/** One namespace, by name. */
export const namespaceNamed = (name: string): Selector => ({
  is: 'in',
  key: namespaceNameLabel,
  values: [name],
});

/** The shortest form, so that equal selections are found to be equal. */
export const toSelector = (selector: LabelSelector): Selector =>
  simplifySelector(fromLabelSelector(selector));

export const selectPods = (namespaces: Selector, pods: Selector): { readonly is: 'pods' } & PodSelection => ({
  is: 'pods',
  namespaces,
  pods,
});
