/** In which namespaces labels of pods matter: there a pod must not be let in before they are known. */
import type { Labels } from '../model/facts.js';
import type { PeerCondition, Policy, PodSelection, Rule } from '../model/policy.js';
import type { Selector } from '../selectors/contract.js';
import { keysOf } from '@podwire/objects';
import { formatSelector } from '../selectors/format.js';
import { matchSelector } from '../selectors/match.js';
import { simplifySelector } from '../selectors/simplify.js';

interface Counted {
  readonly namespaces: Selector;
  users: number;
}

export class LabelDependence {
  readonly #byText = new Map<string, Counted>();

  replace(before: Policy | undefined, after: Policy | undefined): void {
    for (const namespaces of dependentNamespaces(after)) this.#count(namespaces, 1);
    for (const namespaces of dependentNamespaces(before)) this.#count(namespaces, -1);
  }

  of(namespaceLabels: Labels): boolean {
    return [...this.#byText.values()].some(({ namespaces }) => matchSelector(namespaces, namespaceLabels));
  }

  #count(namespaces: Selector, by: 1 | -1): void {
    const text = formatSelector(namespaces);
    const counted = this.#byText.get(text) ?? { namespaces, users: 0 };
    counted.users += by;
    if (counted.users > 0) this.#byText.set(text, counted);
    else this.#byText.delete(text);
  }
}

function dependentNamespaces(policy: Policy | undefined): Selector[] {
  if (policy === undefined) return [];
  const rules = [...(policy.ingress ?? []), ...(policy.egress ?? [])];
  const selections = [...policy.subjects, ...rules.flatMap(peersOf)].filter((each) => each.is === 'pods');
  return selections.filter(looksAtLabels).map(({ namespaces }) => namespaces);
}

const peersOf = ({ source, destination }: Rule): PeerCondition['peers'] =>
  [...source, ...destination].flatMap(({ peers }) => peers);

/** Labels that Calico adds are known without anyone saying them. */
const looksAtLabels = ({ pods }: PodSelection): boolean =>
  [...keysOf(simplifySelector(pods))].some((key) => !key.startsWith('projectcalico.org/'));
