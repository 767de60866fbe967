/** Ends of a rule (EntityRule) as conditions. */
import type { CalicoEntity } from '@podwire/objects';
import { impliedLabels } from '../../model/implied-labels.js';
import type { Peer, PeerCondition } from '../../model/policy.js';
import type { Selector } from '../../selectors/contract.js';
import { everything, namespaceNamed, selectPods } from '../selections.js';
import {
  isGiven,
  type NamespaceSelection,
  ofOthers,
  ofPods,
  readNamespaces,
  readSelector,
  splitNamespaces,
} from './selectors.js';

export interface EntityPlace {
  readonly side: 'source' | 'destination';
  /** Of the policy; undefined for a global one and for a profile. */
  readonly namespace: string | undefined;
  /** `spec.ingress[0].source` */
  readonly path: string;
}

/** All of them must hold. */
export function toConditions(entity: CalicoEntity, place: EntityPlace): PeerCondition[] {
  return [
    ...netCondition(entity.nets, false),
    ...netCondition(entity.notNets, true),
    ...endpointCondition(entity, place),
    ...notSelectorCondition(entity, place),
    ...serviceCondition(entity, place),
  ];
}

function netCondition(nets: readonly string[] = [], negate: boolean): PeerCondition[] {
  if (nets.length === 0) return [];
  const peers = nets.map((cidr): Peer => ({ is: 'net', cidr, except: [] }));
  return [{ peers, ...(negate && { negate }) }];
}

/**
 * A namespace's policy speaks of its own namespace as soon as it says anything about labels, `notSelector` too. Prefixes alone
 * hold for every namespace.
 */
function endpointCondition(entity: CalicoEntity, place: EntityPlace): PeerCondition[] {
  const accounts = entity.serviceAccounts?.names ?? [];
  const asks =
    isGiven(entity.selector) ||
    isGiven(entity.namespaceSelector) ||
    accounts.length > 0 ||
    (place.namespace !== undefined && isGiven(entity.notSelector));
  if (!asks) return [];
  const labels = readSelector(entity.selector ?? '', `${place.path}.selector`);
  return [{ peers: labelledPeers(labels, placeOf(entity, place), accounts) }];
}

function placeOf({ namespaceSelector }: CalicoEntity, { namespace, path }: EntityPlace): NamespaceSelection {
  if (isGiven(namespaceSelector)) return readNamespaces(namespaceSelector, `${path}.namespaceSelector`);
  return namespace === undefined
    ? { namespaces: everything, isGlobal: true }
    : { namespaces: namespaceNamed(namespace), isGlobal: false };
}

function labelledPeers(
  labels: Selector,
  { namespaces, isGlobal }: NamespaceSelection,
  accounts: readonly string[] = [],
): Peer[] {
  const pods = podPeer(labels, namespaces, accounts);
  // Only pods have service accounts.
  if (accounts.length > 0) return pods;
  return [...pods, ...setPeer(labels, namespaces), ...(isGlobal ? globalPeers(labels) : [])];
}

function podPeer(labels: Selector, within: Selector, accounts: readonly string[]): Peer[] {
  const { namespaces, pods } = splitNamespaces(ofPods(labels), within);
  if (namespaces.is === 'none' || pods.is === 'none') return [];
  const selection = selectPods(namespaces, pods);
  if (accounts.length === 0) return [selection];
  const values = [...new Set(accounts)].sort();
  return [{ ...selection, serviceAccounts: { is: 'in', key: impliedLabels.serviceAccount, values } }];
}

function setPeer(labels: Selector, within: Selector): Peer[] {
  const { namespaces, pods } = splitNamespaces(ofOthers(labels, { isGlobal: false }), within);
  if (namespaces.is === 'none' || pods.is === 'none') return [];
  return [{ is: 'network-sets', labels: pods, namespaces }];
}

function globalPeers(selector: Selector): Peer[] {
  const labels = ofOthers(selector, { isGlobal: true });
  if (labels.is === 'none') return [];
  return [
    { is: 'network-sets', labels, namespaces: 'global' },
    { is: 'host-endpoints', labels },
  ];
}

/** Nothing with these labels may be at the address, wherever it lies. */
function notSelectorCondition({ notSelector }: CalicoEntity, { path }: EntityPlace): PeerCondition[] {
  if (!isGiven(notSelector)) return [];
  const labels = readSelector(notSelector, `${path}.notSelector`);
  return [{ peers: labelledPeers(labels, { namespaces: everything, isGlobal: true }), negate: true }];
}

/** As a destination a service is its endpoints with their ports, as a source their addresses. */
function serviceCondition({ services }: CalicoEntity, place: EntityPlace): PeerCondition[] {
  if (services === undefined) return [];
  const namespace = services.namespace ?? place.namespace;
  // The schema asks for one; without it there is no such service.
  if (namespace === undefined) return [{ peers: [] }];
  return [
    { peers: [{ is: 'service', namespace, name: services.name, withPorts: place.side === 'destination' }] },
  ];
}
