/**
 * Network sets that could never be read. What a rule that names one would have matched is not known: an `allow` might be too
 * wide where it says `not`, a `deny` too narrow. A policy with such a rule closes what
 * it selects until the set can be read, and a profile allows nothing.
 */
import { type ObjectReference, referenceKey, type UnreadableObject } from '@podwire/objects';
import { impliedLabels, namespaceNameLabel } from '../model/implied-labels.js';
import type { Labels } from '../model/facts.js';
import type { Peer, Policy, Profile, Rule } from '../model/policy.js';
import { matchSelector } from '../selectors/match.js';

interface LostSet {
  readonly reference: ObjectReference;
  /** Undefined where they cannot be read either: any selector may mean the set. */
  readonly labels: Labels | undefined;
}

/** An input that has rules. */
export type Ruled = Pick<Policy | Profile, 'ingress' | 'egress'>;

type SetPeer = Extract<Peer, { is: 'network-sets' }>;

export class LostSets {
  readonly #sets = new Map<string, LostSet>();

  /** @returns whether it is a network set, and policies may mean something else now */
  put({ reference, content }: UnreadableObject): boolean {
    if (!isNetworkSet(reference)) return false;
    this.#sets.set(referenceKey(reference), { reference, labels: readLabels(content, reference) });
    return true;
  }

  /** It can be read, or has gone. @returns whether policies may mean something else now */
  delete(reference: ObjectReference): boolean {
    return this.#sets.delete(referenceKey(reference));
  }

  /** The first set that the policy may mean. */
  findFor(policy: Ruled): ObjectReference | undefined {
    if (this.#sets.size === 0) return undefined;
    const peers = setPeersOf(policy);
    return [...this.#sets.values()].find((set) => peers.some((peer) => isMeant(set, peer)))?.reference;
  }
}

export const hasSetPeers = (policy: Ruled): boolean => setPeersOf(policy).length > 0;

const isNetworkSet = ({ apiVersion, kind }: ObjectReference): boolean =>
  apiVersion.startsWith('projectcalico.org/') && (kind === 'NetworkSet' || kind === 'GlobalNetworkSet');

function setPeersOf({ ingress = [], egress = [] }: Ruled): SetPeer[] {
  const peersOf = ({ source, destination }: Rule): readonly Peer[] =>
    [...source, ...destination].flatMap(({ peers }) => peers);
  return [...ingress, ...egress]
    .flatMap(peersOf)
    .filter((peer): peer is SetPeer => peer.is === 'network-sets');
}

/** Labels of the namespace itself are not known here: where more than its name is asked, the set may be meant. */
function isMeant({ reference: { namespace }, labels }: LostSet, peer: SetPeer): boolean {
  if ((peer.namespaces === 'global') !== (namespace === undefined)) return false;
  if (peer.namespaces !== 'global' && namespace !== undefined && !mayBeIn(namespace, peer.namespaces))
    return false;
  return labels === undefined || matchSelector(peer.labels, labels);
}

/** Only a condition on the name alone says no for certain. */
function mayBeIn(namespace: string, selector: Exclude<SetPeer['namespaces'], 'global'>): boolean {
  const isOfName = 'key' in selector && selector.key === namespaceNameLabel;
  return !isOfName || matchSelector(selector, { [namespaceNameLabel]: namespace });
}

function readLabels(content: unknown, { namespace }: ObjectReference): Labels | undefined {
  const metadata = asFields(asFields(content)?.['metadata']);
  const labels = asFields(metadata?.['labels'] ?? {});
  if (metadata === undefined || labels === undefined) return undefined;
  if (!Object.values(labels).every((value) => typeof value === 'string')) return undefined;
  return { ...(labels as Labels), ...(namespace !== undefined && { [impliedLabels.namespace]: namespace }) };
}

const asFields = (value: unknown): Readonly<Record<string, unknown>> | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : undefined;
