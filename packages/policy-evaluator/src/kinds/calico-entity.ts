/**
 * One end of a connection as Calico's rules describe it (EntityRule). Selectors match whatever has labels at the address: pods,
 * network sets with a prefix around it, host endpoints that expect it. An endpoint or set without a namespace is a global one.
 */
import type { AnyObject } from '@podwire/objects';
import type { Cluster, Labels, Pod } from '../cluster.js';
import { contains } from '../nets.js';
import { hasNamedPort, type Packet, protocolNumbers, type Side } from '../packet.js';
import { parseCalicoSelector, parseNamespaceSelector } from '../selectors/calico.js';
import { labelsOfNamespace } from '../selectors/kubernetes.js';

export type CalicoPort = number | string;

export interface Entity {
  readonly nets?: readonly string[];
  readonly notNets?: readonly string[];
  readonly selector?: string;
  readonly notSelector?: string;
  readonly namespaceSelector?: string;
  readonly ports?: readonly CalicoPort[];
  readonly notPorts?: readonly CalicoPort[];
  readonly services?: { readonly name: string; readonly namespace?: string };
  readonly serviceAccounts?: { readonly names?: readonly string[] };
}

/** Something that selectors match. */
export interface Labelled {
  readonly labels: Labels;
  readonly namespace?: string | undefined;
}

interface NetworkSet extends AnyObject {
  readonly spec?: { readonly nets?: readonly string[] };
}

export interface HostEndpoint extends AnyObject {
  readonly spec: {
    readonly node: string;
    readonly interfaceName?: string;
    readonly expectedIPs?: readonly string[];
    readonly profiles?: readonly string[];
  };
}

interface ProfileLabels extends AnyObject {
  readonly spec?: { readonly labelsToApply?: Labels };
}

export const isCalico = (object: AnyObject, ...kinds: readonly string[]): boolean =>
  object.apiVersion === 'projectcalico.org/v3' && kinds.includes(object.kind);

export const isHostEndpoint = (object: AnyObject): object is HostEndpoint => isCalico(object, 'HostEndpoint');

const isNetworkSet = (object: AnyObject): object is NetworkSet =>
  isCalico(object, 'NetworkSet', 'GlobalNetworkSet');

const isProfile = (object: AnyObject): object is ProfileLabels => isCalico(object, 'Profile');

/** The profiles that Calico gives a pod for its namespace and its service account. */
export function profilesOfPod({ namespace, serviceAccount }: Pod): string[] {
  const account = serviceAccount === undefined ? [] : [`ksa.${namespace}.${serviceAccount}`];
  return [`kns.${namespace}`, ...account];
}

/** Its labels, and those that Calico adds. */
export function describePod({ namespace, labels, serviceAccount }: Pod): Labelled {
  const added = {
    'projectcalico.org/namespace': namespace,
    'projectcalico.org/orchestrator': 'k8s',
    ...(serviceAccount !== undefined && { 'projectcalico.org/serviceaccount': serviceAccount }),
  };
  return { labels: { ...labels, ...added }, namespace };
}

/** Labels of profiles are labels of their pods, where these have none of that key. Every kind of policy sees them. */
export const lendLabels = (cluster: Cluster): Cluster => ({
  ...cluster,
  pods: cluster.pods.map((pod) => ({
    ...pod,
    labels: { ...labelsOfProfiles(cluster, profilesOfPod(pod)), ...pod.labels },
  })),
});

export const describeHost = (cluster: Cluster, { metadata, spec }: HostEndpoint): Labelled => ({
  labels: { ...labelsOfProfiles(cluster, spec.profiles ?? []), ...metadata.labels },
});

function labelsOfProfiles(cluster: Cluster, names: readonly string[]): Labels {
  const profiles = cluster.objects.filter(isProfile);
  const lent = names.flatMap((name) => profiles.filter(({ metadata }) => metadata.name === name));
  return Object.assign({}, ...lent.map(({ spec }) => spec?.labelsToApply ?? {})) as Labels;
}

function findLabelled(cluster: Cluster, side: Side): Labelled[] {
  const hasAddress = (nets: readonly string[] = []): boolean =>
    nets.some((net) => contains(net, side.address));
  const sets = cluster.objects.filter(isNetworkSet).filter(({ spec }) => hasAddress(spec?.nets));
  const hosts = cluster.objects.filter(isHostEndpoint).filter(({ spec }) => hasAddress(spec.expectedIPs));
  return [
    ...(side.pod === undefined ? [] : [describePod(side.pod)]),
    ...sets.map(describeSet),
    ...hosts.map((host) => describeHost(cluster, host)),
  ];
}

function describeSet({ metadata: { labels, namespace } }: NetworkSet): Labelled {
  const added = namespace === undefined ? {} : { 'projectcalico.org/namespace': namespace };
  return { labels: { ...labels, ...added }, namespace };
}

/** `namespace`: of the policy that the rule is in; undefined for global ones. */
export function matchesEntity(
  entity: Entity,
  side: Side,
  packet: Packet,
  namespace: string | undefined,
): boolean {
  return (
    matchesNets(entity, side) &&
    matchesSelectors(entity, findLabelled(packet.cluster, side), packet.cluster, namespace) &&
    matchesService(entity, side, packet, namespace) &&
    matchesPorts(entity, side, packet)
  );
}

function matchesNets({ nets = [], notNets = [] }: Entity, { address }: Side): boolean {
  if (nets.length > 0 && !nets.some((net) => contains(net, address))) return false;
  return !notNets.some((net) => contains(net, address));
}

/**
 * `selector` asks for something that matches, `notSelector` that nothing does. As soon as one of them stands in a policy of a
 * namespace, there must be something of that namespace, or of those that `namespaceSelector` selects.
 */
function matchesSelectors(
  entity: Entity,
  present: readonly Labelled[],
  cluster: Cluster,
  namespace: string | undefined,
): boolean {
  const isNot = parseCalicoSelector(entity.notSelector ?? '');
  if (isGiven(entity.notSelector) && present.some(({ labels }) => isNot(labels))) return false;
  if (!asksForEndpoints(entity, namespace)) return true;
  const is = parseCalicoSelector(entity.selector ?? '');
  return present.some(
    (each) => is(each.labels) && hasAccount(entity, each) && isInNamespace(entity, each, cluster, namespace),
  );
}

const isGiven = (text: string | undefined): boolean => text !== undefined && text.trim() !== '';

const asksForEndpoints = (entity: Entity, namespace: string | undefined): boolean =>
  isGiven(entity.selector) ||
  isGiven(entity.namespaceSelector) ||
  (entity.serviceAccounts?.names ?? []).length > 0 ||
  (namespace !== undefined && isGiven(entity.notSelector));

function hasAccount({ serviceAccounts }: Entity, { labels }: Labelled): boolean {
  const names = serviceAccounts?.names ?? [];
  return names.length === 0 || names.includes(labels['projectcalico.org/serviceaccount'] ?? '');
}

function isInNamespace(
  { namespaceSelector }: Entity,
  labelled: Labelled,
  cluster: Cluster,
  ofPolicy: string | undefined,
): boolean {
  if (namespaceSelector === undefined || namespaceSelector.trim() === '')
    return ofPolicy === undefined || labelled.namespace === ofPolicy;
  return matchesNamespace(namespaceSelector, labelled, cluster);
}

/** An object in no namespace has no labels of one: `global()` and `team != 'red'` match it; `all()` does not. */
export function matchesNamespace(selector: string, { namespace }: Labelled, cluster: Cluster): boolean {
  const labels =
    namespace === undefined
      ? {}
      : { ...labelsOfNamespace(cluster, namespace), 'projectcalico.org/name': namespace };
  return parseNamespaceSelector(selector)(labels);
}

/** A service as destination stands for addresses with their ports, as source for addresses. */
function matchesService(
  { services }: Entity,
  side: Side,
  packet: Packet,
  namespace: string | undefined,
): boolean {
  if (services === undefined) return true;
  const wanted = services.namespace ?? namespace;
  const service = (packet.cluster.services ?? []).find(
    (each) => each.name === services.name && each.namespace === wanted,
  );
  return (service?.endpoints ?? []).some(
    ({ addresses, ports }) =>
      addresses.includes(side.address) &&
      (side === packet.source ||
        ports.some((each) => each.port === side.port && protocolNumbers[each.protocol] === packet.protocol)),
  );
}

function matchesPorts({ ports = [], notPorts = [] }: Entity, side: Side, packet: Packet): boolean {
  if (ports.length > 0 && !ports.some((port) => isPort(port, side, packet))) return false;
  return !notPorts.some((port) => isPort(port, side, packet));
}

/** A number, `first:last`, or a name that the pod on this side has for it. */
function isPort(port: CalicoPort, side: Side, packet: Packet): boolean {
  const range = /^(\d+)(?::(\d+))?$/.exec(`${port}`);
  if (range === null) return hasNamedPort(side, `${port}`, packet);
  const first = Number(range[1]);
  return side.port !== undefined && side.port >= first && side.port <= Number(range[2] ?? first);
}
