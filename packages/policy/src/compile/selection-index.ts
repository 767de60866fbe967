/** Finds the selections that may match a pod, by labels that they require of its namespace and of itself. */
import type { Labels } from '../model/facts.js';
import type { Selector } from '../selectors/contract.js';
import { requiredLabels } from '../selectors/required.js';
import type { Selection } from './parts.js';
import type { PodEntry } from './things.js';

/** A label with its value, a label alone, or nothing: what requires none is found under the empty text. */
type Token = string;

export class SelectionIndex<T extends { readonly selection: Selection }> {
  /** By token of the namespace, then by token of the pod. */
  readonly #tokens = new Map<Token, Map<Token, Set<T>>>();

  add(live: T): void {
    for (const [ofNamespace, ofPod] of tokenPairs(live.selection)) {
      const byPod = this.#tokens.get(ofNamespace) ?? new Map<Token, Set<T>>();
      this.#tokens.set(ofNamespace, byPod);
      byPod.set(ofPod, (byPod.get(ofPod) ?? new Set<T>()).add(live));
    }
  }

  delete(live: T): void {
    for (const [ofNamespace, ofPod] of tokenPairs(live.selection)) {
      const byPod = this.#tokens.get(ofNamespace);
      const found = byPod?.get(ofPod);
      found?.delete(live);
      if (found?.size === 0) byPod?.delete(ofPod);
      if (byPod?.size === 0) this.#tokens.delete(ofNamespace);
    }
  }

  /** Some may come twice. */
  *candidates({ labels, namespaceLabels }: PodEntry): Generator<T> {
    const ofPod = [...tokensOfLabels(labels)];
    for (const token of tokensOfLabels(namespaceLabels)) {
      const byPod = this.#tokens.get(token);
      if (byPod === undefined) continue;
      for (const each of ofPod) yield* byPod.get(each) ?? [];
    }
  }
}

export const tokenOf = (key: string, value?: string): Token =>
  value === undefined ? key : `${key}\0${value}`;

function* tokensOfLabels(labels: Labels): Generator<Token> {
  yield '';
  for (const [key, value] of Object.entries(labels)) {
    yield tokenOf(key);
    yield tokenOf(key, value);
  }
}

function* tokenPairs({ namespaces, pods }: Selection): Generator<[Token, Token]> {
  const ofPods = tokensRequired(pods);
  for (const token of tokensRequired(namespaces)) for (const each of ofPods) yield [token, each];
}

function tokensRequired(selector: Selector): Token[] {
  const required = requiredLabels(selector);
  return required === undefined ? [''] : [...new Set(required.map(({ key, value }) => tokenOf(key, value)))];
}
