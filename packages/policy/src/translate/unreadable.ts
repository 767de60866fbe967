/**
 * Objects that cannot be read. A policy among them closes what it selects, as far as that can be seen; where it cannot, all that
 * an object of its kind and namespace could select. It comes first of its tier, so that no other policy there opens it again.
 */
import {
  labelSelectorSchema,
  type ObjectReference,
  parseSelector,
  policySubjectSchema,
  referenceKey,
  type UnreadableObject,
} from '@podwire/objects';
import type { InputChange } from '../model/changes.js';
import type { HostMode, Policy, Profile, Rule, Subject } from '../model/policy.js';
import type { Selector } from '../selectors/contract.js';
import { simplifySelector } from '../selectors/simplify.js';
import { hostModeOf, lastTierOrder, tierName } from './calico/policies.js';
import { toPods } from './kubernetes/admin-policies.js';
import { everything, namespaceNamed, selectPods, toSelector } from './selections.js';

type Fields = Readonly<Record<string, unknown>>;

const asFields = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};

/** Kinds that are no policy give nothing: what they would have said is not known. */
export function translateUnreadable(unreadable: UnreadableObject): InputChange[] {
  const { reference, content } = unreadable;
  const spec = asFields(asFields(content)['spec']);
  const group = reference.apiVersion.split('/')[0] ?? '';
  const close = closers[`${group} ${reference.kind}`];
  if (close !== undefined) return [toChange(unreadable, close(spec, reference))];
  if (group !== 'projectcalico.org') return [];
  if (reference.kind === 'Tier') return closeTier(reference, spec);
  return reference.kind === 'Profile' ? closeProfile(reference) : [];
}

interface Closing {
  readonly tier: string;
  readonly subjects: readonly Subject[];
  readonly directions: readonly ('ingress' | 'egress')[];
  readonly hostMode?: HostMode | undefined;
}

type Close = (spec: Fields, reference: ObjectReference) => Closing;

const closers: Readonly<Record<string, Close>> = {
  'networking.k8s.io NetworkPolicy': (spec, { namespace = 'default' }) => ({
    tier: 'default',
    subjects: [selectPods(namespaceNamed(namespace), readLabels(spec['podSelector']))],
    directions: directionsOf(spec, 'policyTypes'),
  }),
  'policy.networking.k8s.io AdminNetworkPolicy': (spec) => closeSubject(spec, 'admin'),
  'policy.networking.k8s.io BaselineAdminNetworkPolicy': (spec) => closeSubject(spec, 'baseline'),
  'policy.networking.k8s.io ClusterNetworkPolicy': (spec) =>
    closeSubject(spec, spec['tier'] === 'Baseline' ? 'baseline' : 'admin'),
  'projectcalico.org NetworkPolicy': (spec, { namespace = 'default' }) => ({
    tier: readTier(spec),
    subjects: [selectPods(namespaceNamed(namespace), readText(spec['selector']))],
    directions: directionsOf(spec, 'types'),
  }),
  'projectcalico.org GlobalNetworkPolicy': closeGlobally,
};

function closeGlobally(spec: Fields): Closing {
  const hostMode = hostModeOf(spec);
  const labels = readText(spec['selector']);
  const isOfPods = hostMode === 'normal' || hostMode === 'forward';
  return {
    tier: readTier(spec),
    // Where namespaces are selected, all are closed: fewer might be too few.
    subjects: [...(isOfPods ? [selectPods(everything, labels)] : []), { is: 'host-endpoints', labels }],
    directions: directionsOf(spec, 'types'),
    hostMode,
  };
}

function closeSubject(spec: Fields, tier: string): Closing {
  const read = policySubjectSchema.safeParse(spec['subject']);
  const subjects = read.success ? toPods(read.data) : [selectPods(everything, everything)];
  const given = (['ingress', 'egress'] as const).filter((direction) => spec[direction] !== undefined);
  return { tier, subjects, directions: given.length > 0 ? given : ['ingress', 'egress'] };
}

/** In front of all tiers where it cannot be seen which one was meant. */
function readTier(spec: Fields): string {
  const { tier = 'default' } = spec;
  if (Object.keys(spec).length === 0 || typeof tier !== 'string') return 'admin';
  return tier === '' ? 'default' : tierName(tier);
}

function readLabels(value: unknown): Selector {
  const read = labelSelectorSchema.safeParse(value);
  return read.success ? toSelector(read.data) : everything;
}

function readText(value: unknown): Selector {
  const read = typeof value === 'string' ? parseSelector(value) : undefined;
  return read?.ok === true ? simplifySelector(read.selector) : everything;
}

/** Those that are named; without names those with rules; where that says nothing, both. */
function directionsOf(spec: Fields, field: 'types' | 'policyTypes'): Closing['directions'] {
  const types = Array.isArray(spec[field]) ? (spec[field] as unknown[]) : [];
  const isKnown = types.length > 0 && types.every((type) => type === 'Ingress' || type === 'Egress');
  if (isKnown) return [...new Set(types)].map((type) => (type === 'Ingress' ? 'ingress' : 'egress'));
  return ['ingress', 'egress'];
}

const denial: readonly Rule[] = [{ action: 'deny', source: [], destination: [], path: 'spec' }];

/** A policy that can be read and still cannot be rendered: first of its tier, it closes what it selects. */
export const closePolicy = (policy: Policy, broken: string): Policy => ({
  ...policy,
  order: Number.MIN_SAFE_INTEGER,
  ...(policy.ingress !== undefined && { ingress: denial }),
  ...(policy.egress !== undefined && { egress: denial }),
  broken,
});

function toChange({ reference, problems }: UnreadableObject, closing: Closing): InputChange {
  const id = referenceKey(reference);
  const value: Policy = {
    id,
    reference,
    tier: closing.tier,
    order: Number.MIN_SAFE_INTEGER,
    subjects: closing.subjects,
    ...(closing.directions.includes('ingress') && { ingress: denial }),
    ...(closing.directions.includes('egress') && { egress: denial }),
    ...(closing.hostMode !== undefined && closing.hostMode !== 'normal' && { hostMode: closing.hostMode }),
    broken: describe(problems),
  };
  return { topic: 'policy', key: id, value };
}

/** A profile whose rules cannot be rendered allows nothing. */
export const closeRules = (profile: Profile): Profile => ({ ...profile, ingress: [], egress: [] });

const describe = (problems: UnreadableObject['problems']): string =>
  problems.length === 0
    ? 'it cannot be read'
    : problems
        .map(({ field, message }) => (field === undefined ? message : `${field}: ${message}`))
        .join('; ');

/** Its policies stay where they can be, and it lets nothing through at its end. */
function closeTier({ name }: ObjectReference, { order }: Fields): InputChange[] {
  if (name === 'default') return [];
  const key = tierName(name);
  const place = typeof order === 'number' && Number.isFinite(order) ? order : lastTierOrder;
  return [{ topic: 'tier', key, value: { name: key, order: place, end: 'deny' } }];
}

/** Without rules it allows nothing. */
function closeProfile(reference: ObjectReference): InputChange[] {
  const value = { name: reference.name, reference, labelsToApply: {}, ingress: [], egress: [] };
  return [{ topic: 'profile', key: reference.name, value }];
}
