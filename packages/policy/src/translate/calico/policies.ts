/** Calico's policies, tiers and profiles. */
import {
  type CalicoGlobalNetworkPolicy,
  type CalicoNetworkPolicy,
  type CalicoProfile,
  type CalicoTier,
  type Origin,
  referenceKey,
  referenceOf,
} from '@podwire/objects';
import { impliedLabels } from '../../model/implied-labels.js';
import type { HostMode, Policy, Profile, Subject, Tier } from '../../model/policy.js';
import type { Selector } from '../../selectors/contract.js';
import { simplifySelector } from '../../selectors/simplify.js';
import { everything, namespaceNamed, selectPods } from '../selections.js';
import { toRules } from './rules.js';
import {
  isGiven,
  type NamespaceSelection,
  ofOthers,
  ofPods,
  readNamespaces,
  readSelector,
  renameKey,
  splitNamespaces,
} from './selectors.js';

const calicoName = 'projectcalico.org/name';

/** Behind all tiers that have an order, and in front of the baseline. */
export const lastTierOrder = Number.MAX_SAFE_INTEGER - 1;

/** Podwire's own names: a tier of Calico may be called so, too. */
const taken: ReadonlySet<string> = new Set(['admin', 'baseline']);

export const tierName = (name: string): string => (taken.has(name) ? `calico ${name}` : name);

/** The tier `default` is always there, and cannot be changed. */
export function translateTier({ metadata: { name }, spec }: CalicoTier): Tier | undefined {
  if (name === 'default') return undefined;
  return {
    name: tierName(name),
    order: spec.order ?? lastTierOrder,
    end: spec.defaultAction === 'Pass' ? 'pass' : 'deny',
  };
}

export function translateCalicoPolicy(policy: CalicoNetworkPolicy, origin?: Origin): Policy {
  const namespace = policy.metadata.namespace;
  const subjects = selectOwnPods(policy.spec, namespaceNamed(namespace));
  return { ...toPolicy(policy, origin, namespace), subjects };
}

export function translateGlobalPolicy(policy: CalicoGlobalNetworkPolicy, origin?: Origin): Policy {
  const hostMode = hostModeOf(policy.spec);
  return {
    ...toPolicy(policy, origin, undefined),
    subjects: selectGlobally(policy.spec, hostMode),
    ...(hostMode !== 'normal' && { hostMode }),
  };
}

function toPolicy(
  policy: CalicoNetworkPolicy | CalicoGlobalNetworkPolicy,
  origin: Origin | undefined,
  namespace: string | undefined,
): Omit<Policy, 'subjects'> {
  const reference = referenceOf(policy);
  const { tier, order, types, ingress, egress } = policy.spec;
  return {
    id: referenceKey(reference),
    reference,
    ...(origin !== undefined && { origin }),
    tier: tierName(tier),
    ...(order !== undefined && { order }),
    ...(types.includes('Ingress') && { ingress: toRules(ingress, 'ingress', namespace) }),
    ...(types.includes('Egress') && { egress: toRules(egress, 'egress', namespace) }),
  };
}

interface Selecting {
  readonly selector: string;
  readonly serviceAccountSelector?: string | undefined;
}

function selectOwnPods({ selector, serviceAccountSelector }: Selecting, within: Selector): Subject[] {
  const read = ofPods(readSelector(selector, 'spec.selector'));
  const { namespaces, pods } = splitNamespaces(read, within);
  if (namespaces.is === 'none' || pods.is === 'none') return [];
  const selection = selectPods(namespaces, pods);
  if (!isGiven(serviceAccountSelector)) return [selection];
  const accounts = readSelector(serviceAccountSelector, 'spec.serviceAccountSelector');
  const serviceAccounts = simplifySelector(renameKey(accounts, calicoName, impliedLabels.serviceAccount));
  return [{ ...selection, serviceAccounts }];
}

/** Untracked and `preDNAT` policies are of host endpoints alone; a policy that asks for a service account, of pods. */
function selectGlobally(spec: CalicoGlobalNetworkPolicy['spec'], hostMode: HostMode): Subject[] {
  const { namespaces, isGlobal } = namespacesOf(spec);
  const isOfPods = hostMode === 'normal' || hostMode === 'forward';
  const pods = isOfPods ? selectOwnPods(spec, namespaces) : [];
  if (!isGlobal || isGiven(spec.serviceAccountSelector)) return pods;
  const labels = ofOthers(readSelector(spec.selector, 'spec.selector'), { isGlobal: true });
  return labels.is === 'none' ? pods : [...pods, { is: 'host-endpoints', labels }];
}

const namespacesOf = ({ namespaceSelector }: CalicoGlobalNetworkPolicy['spec']): NamespaceSelection =>
  isGiven(namespaceSelector)
    ? readNamespaces(namespaceSelector, 'spec.namespaceSelector')
    : { namespaces: everything, isGlobal: true };

export function hostModeOf({
  doNotTrack,
  preDNAT,
  applyOnForward,
}: Partial<Record<'doNotTrack' | 'preDNAT' | 'applyOnForward', unknown>>): HostMode {
  if (doNotTrack === true) return 'untracked';
  if (preDNAT === true) return 'pre-dnat';
  return applyOnForward === true ? 'forward' : 'normal';
}

export function translateProfile(profile: CalicoProfile): Profile {
  const { ingress, egress, labelsToApply = {} } = profile.spec;
  return {
    name: profile.metadata.name,
    reference: referenceOf(profile),
    labelsToApply,
    ingress: toRules(ingress, 'ingress', undefined),
    egress: toRules(egress, 'egress', undefined),
  };
}
