/** Policies with the endpoints of this node that they select. */
import type { Policy, Subject } from '../model/policy.js';
import { matchSelector } from '../selectors/match.js';
import type { Labels, PodKey } from '../model/facts.js';
import type { LiveSelections, SelectionListener } from './live-selections.js';
import { appliesToPods } from './order.js';
import { describeSelection, type Selection } from './parts.js';

type PodSubject = Extract<Subject, { is: 'pods' }>;

/** Policies that have a subject in common share its entry. */
interface LiveSubject {
  readonly selection: Selection;
  readonly listener: SelectionListener;
  readonly policies: Set<Policy>;
  readonly pods: () => Iterable<PodKey>;
}

export class Policies {
  readonly #byId = new Map<string, Policy>();
  readonly #bySubject = new Map<string, LiveSubject>();
  readonly #ofHosts = new Set<Policy>();
  /** Policies of a pod that is selected at all. */
  readonly #ofPod = new Map<PodKey, Set<LiveSubject>>();
  readonly #node: string;
  readonly #selections: LiveSelections;
  readonly #note: (endpoint: PodKey) => void;

  /** @param note called with pods whose policies may be others now */
  constructor(node: string, selections: LiveSelections, note: (endpoint: PodKey) => void) {
    this.#node = node;
    this.#selections = selections;
    this.#note = note;
  }

  get(id: string): Policy | undefined {
    return this.#byId.get(id);
  }

  all(): Iterable<Policy> {
    return this.#byId.values();
  }

  /** @returns whether it has to do with host endpoints, now or before */
  replace(id: string, policy: Policy | undefined): boolean {
    const before = this.#byId.get(id);
    // Sets of policies tell them apart by identity.
    if (policy === before) return false;
    if (policy !== undefined)
      for (const selection of this.#selectionsOf(policy)) this.#attach(selection, policy);
    if (before !== undefined)
      for (const selection of this.#selectionsOf(before)) this.#detach(selection, before);
    const wasOfHosts = before !== undefined && this.#ofHosts.delete(before);
    const isOfHosts = policy?.subjects.some(({ is }) => is === 'host-endpoints') === true;
    if (isOfHosts) this.#ofHosts.add(policy);
    if (policy === undefined) this.#byId.delete(id);
    else this.#byId.set(id, policy);
    return wasOfHosts || isOfHosts;
  }

  ofPod(key: PodKey): ReadonlySet<Policy> {
    return new Set([...(this.#ofPod.get(key) ?? [])].flatMap(({ policies }) => [...policies]));
  }

  *ofHost(labels: Labels): Generator<Policy> {
    for (const policy of this.#ofHosts)
      if (policy.subjects.some((each) => each.is === 'host-endpoints' && matchSelector(each.labels, labels)))
        yield policy;
  }

  #selectionsOf(policy: Policy): Selection[] {
    if (!appliesToPods(policy)) return [];
    const subjects = policy.subjects.filter((subject): subject is PodSubject => subject.is === 'pods');
    return subjects.map((subject) => describeSelection(subject, this.#node));
  }

  #attach(selection: Selection, policy: Policy): void {
    const subject = this.#bySubject.get(selection.key) ?? this.#begin(selection);
    subject.policies.add(policy);
    this.#noteAll(subject);
  }

  #begin(selection: Selection): LiveSubject {
    const listener: SelectionListener = (before, after) => {
      if (after !== undefined) this.#join(after.key, subject);
      else if (before !== undefined) this.#leave(before.key, subject);
    };
    const live = this.#selections.listen(selection, listener);
    const subject: LiveSubject = { selection, listener, policies: new Set(), pods: () => live.pods.keys() };
    this.#bySubject.set(selection.key, subject);
    for (const key of subject.pods()) this.#join(key, subject);
    return subject;
  }

  #detach(selection: Selection, policy: Policy): void {
    const subject = this.#bySubject.get(selection.key);
    if (subject?.policies.delete(policy) !== true) return;
    this.#noteAll(subject);
    if (subject.policies.size > 0) return;
    this.#bySubject.delete(selection.key);
    this.#selections.unlisten(selection, subject.listener);
    for (const key of subject.pods()) this.#leave(key, subject);
  }

  #noteAll(subject: LiveSubject): void {
    for (const key of subject.pods()) this.#note(key);
  }

  #join(key: PodKey, subject: LiveSubject): void {
    this.#ofPod.set(key, (this.#ofPod.get(key) ?? new Set()).add(subject));
    this.#note(key);
  }

  #leave(key: PodKey, subject: LiveSubject): void {
    const subjects = this.#ofPod.get(key);
    subjects?.delete(subject);
    if (subjects?.size === 0) this.#ofPod.delete(key);
    this.#note(key);
  }
}
