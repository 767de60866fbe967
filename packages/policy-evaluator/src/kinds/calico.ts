/**
 * Policies and profiles of `projectcalico.org/v3`, by the comments of its types. Rules are taken in their order and the first that
 * matches acts; Log acts and goes on.
 */
import type { AnyObject } from '@podwire/objects';
import type { Cluster, Labels, Pod } from '../cluster.js';
import {
  defaultTier,
  describeObject,
  type Direction,
  type GoverningPolicy,
  type GoverningRule,
  type Tier,
} from '../governing.js';
import { type Packet, protocolNumbers } from '../packet.js';
import { parseCalicoSelector } from '../selectors/calico.js';
import { readLabel } from '../selectors/kubernetes.js';
import {
  describeHost,
  describePod,
  type Entity,
  type HostEndpoint,
  isCalico,
  type Labelled,
  matchesEntity,
  matchesNamespace,
} from './calico-entity.js';

interface IcmpFields {
  readonly type?: number;
  readonly code?: number;
}

interface CalicoRule {
  readonly action: 'Allow' | 'Deny' | 'Pass' | 'Log';
  readonly ipVersion?: 4 | 6;
  readonly protocol?: string | number;
  readonly notProtocol?: string | number;
  readonly icmp?: IcmpFields;
  readonly notICMP?: IcmpFields;
  readonly source?: Entity;
  readonly destination?: Entity;
}

export interface CalicoPolicy extends AnyObject {
  readonly spec: {
    readonly tier?: string;
    readonly order?: number;
    readonly selector?: string;
    readonly namespaceSelector?: string;
    readonly serviceAccountSelector?: string;
    readonly types?: readonly ('Ingress' | 'Egress')[];
    readonly ingress?: readonly CalicoRule[];
    readonly egress?: readonly CalicoRule[];
    readonly doNotTrack?: boolean;
    readonly preDNAT?: boolean;
    readonly applyOnForward?: boolean;
  };
}

interface CalicoTier extends AnyObject {
  readonly spec?: { readonly order?: number; readonly defaultAction?: 'Deny' | 'Pass' };
}

interface CalicoProfile extends AnyObject {
  readonly spec?: { readonly ingress?: readonly CalicoRule[]; readonly egress?: readonly CalicoRule[] };
}

export const isGlobalPolicy = (object: AnyObject): object is CalicoPolicy =>
  isCalico(object, 'GlobalNetworkPolicy');

const isTier = (object: AnyObject): object is CalicoTier => isCalico(object, 'Tier');

const isProfile = (object: AnyObject): object is CalicoProfile => isCalico(object, 'Profile');

/** @returns undefined where the policy does not select the pod, or does not govern the direction */
export function governByCalicoPolicy(
  policy: CalicoPolicy,
  cluster: Cluster,
  pod: Pod,
  direction: Direction,
): GoverningPolicy | undefined {
  // These two look at packets on host endpoints before routing; pods never meet them.
  if (policy.spec.doNotTrack === true || policy.spec.preDNAT === true) return undefined;
  return govern(policy, cluster, describePod(pod), direction);
}

/** The rules for a process of the node. Policies of a namespace never select a host endpoint. */
export function governHost(
  policy: CalicoPolicy,
  cluster: Cluster,
  host: HostEndpoint,
  direction: Direction,
): GoverningPolicy | undefined {
  if (policy.spec.doNotTrack === true || policy.spec.preDNAT === true) return undefined;
  return govern(policy, cluster, describeHost(cluster, host), direction);
}

function govern(
  policy: CalicoPolicy,
  cluster: Cluster,
  labelled: Labelled,
  direction: Direction,
): GoverningPolicy | undefined {
  const { metadata, spec } = policy;
  if (!selects(policy, labelled, cluster) || !typesOf(spec).includes(direction)) return undefined;
  return {
    object: describeObject(policy),
    name: metadata.name,
    tier: findTier(cluster, spec.tier ?? 'default'),
    order: spec.order ?? Number.POSITIVE_INFINITY,
    rules: readRules(spec[direction], direction, metadata.namespace),
  };
}

/** Only pods have a service account to be selected by. */
function selects({ metadata, spec }: CalicoPolicy, labelled: Labelled, cluster: Cluster): boolean {
  const { namespaceSelector, serviceAccountSelector } = spec;
  if (isGiven(serviceAccountSelector) && labelled.namespace === undefined) return false;
  if (metadata.namespace !== undefined && metadata.namespace !== labelled.namespace) return false;
  return (
    (!isGiven(namespaceSelector) || matchesNamespace(namespaceSelector, labelled, cluster)) &&
    (!isGiven(serviceAccountSelector) ||
      parseCalicoSelector(serviceAccountSelector)(labelsOfAccount(labelled))) &&
    parseCalicoSelector(spec.selector ?? '')(labelled.labels)
  );
}

/** Of service accounts the name is all that is known. */
function labelsOfAccount({ labels }: Labelled): Labels {
  const name = readLabel(labels, 'projectcalico.org/serviceaccount');
  return name === undefined ? {} : { 'projectcalico.org/name': name };
}

const isGiven = (text: string | undefined): text is string => text !== undefined && text.trim() !== '';

/** Absent types: those with rules, and ingress where there is none at all. */
function typesOf({ types = [], ingress = [], egress = [] }: CalicoPolicy['spec']): Direction[] {
  if (types.length > 0) return types.map((type) => (type === 'Ingress' ? 'ingress' : 'egress'));
  if (egress.length === 0) return ['ingress'];
  return ingress.length === 0 ? ['egress'] : ['ingress', 'egress'];
}

function findTier(cluster: Cluster, name: string): Tier {
  if (name === 'default') return defaultTier;
  const spec = cluster.objects.filter(isTier).find(({ metadata }) => metadata.name === name)?.spec;
  const end = spec?.defaultAction === 'Pass' ? 'pass' : 'deny';
  return { name, place: 1, order: spec?.order ?? Number.POSITIVE_INFINITY, end };
}

/** Calico has it without an object: those of its own host endpoints are open where no policy governs them. */
const allowByDefault = {
  apiVersion: 'projectcalico.org/v3',
  kind: 'Profile',
  metadata: { name: 'projectcalico-default-allow' },
  spec: { ingress: [{ action: 'Allow' }], egress: [{ action: 'Allow' }] },
} as const;

/** The profile's rules; undefined where there is no such profile. */
export function findProfile(
  cluster: Cluster,
  name: string,
  direction: Direction,
): { readonly object: string; readonly rules: readonly GoverningRule[] } | undefined {
  const written = cluster.objects.filter(isProfile).find(({ metadata }) => metadata.name === name);
  const profile = written ?? (name === allowByDefault.metadata.name ? allowByDefault : undefined);
  if (profile === undefined) return undefined;
  return {
    object: describeObject(profile),
    rules: readRules(profile.spec?.[direction], direction, undefined),
  };
}

const actions = { Allow: 'allow', Deny: 'deny', Pass: 'pass', Log: 'log' } as const;

const readRules = (
  rules: readonly CalicoRule[] = [],
  direction: Direction,
  namespace: string | undefined,
): GoverningRule[] =>
  rules.map((rule, index) => ({
    path: `spec.${direction}[${index}]`,
    action: actions[rule.action],
    matches: (packet) => matchesRule(rule, packet, namespace),
  }));

function matchesRule(rule: CalicoRule, packet: Packet, namespace: string | undefined): boolean {
  return (
    (rule.ipVersion === undefined || rule.ipVersion === packet.family) &&
    (rule.protocol === undefined || numberOf(rule.protocol) === packet.protocol) &&
    (rule.notProtocol === undefined || numberOf(rule.notProtocol) !== packet.protocol) &&
    (rule.icmp === undefined || isIcmp(rule.icmp, packet)) &&
    (rule.notICMP === undefined || !isIcmp(rule.notICMP, packet)) &&
    matchesEntity(rule.source ?? {}, packet.source, packet, namespace) &&
    matchesEntity(rule.destination ?? {}, packet.destination, packet, namespace)
  );
}

function numberOf(protocol: string | number): number {
  const text = `${protocol}`.toLowerCase();
  if (/^\d+$/.test(text)) return Number(text);
  if (!Object.hasOwn(protocolNumbers, text)) throw new TypeError(`not a protocol of Calico: ${protocol}`);
  return protocolNumbers[text as keyof typeof protocolNumbers];
}

const isIcmp = ({ type, code }: IcmpFields, { icmp }: Packet): boolean =>
  icmp !== undefined &&
  (type === undefined || type === icmp.type) &&
  (code === undefined || code === icmp.code);
