/** Policies and what they speak of: which of a dump's are taken over. */
import type { AnyObject, CalicoHostEndpoint } from '@podwire/objects';
import { type Diagnostic, diagnosticsFor } from '../diagnostics.js';
import type { Dump, DumpedPolicyObject } from '../read/dump.js';
import { allowProfile, allowProfileName, isOwnTier } from '../read/policy-objects.js';

export function planPolicyObjects(
  { policies }: Dump,
  diagnostics: Diagnostic[],
): readonly DumpedPolicyObject[] {
  const used = new Set(policies.map(tierOf));
  const taken = policies.filter(({ value }) => !isOwnTier(value) || isUsed(value, used));
  const all = [...taken, ...missingProfiles(taken, diagnostics)];
  reportUnknownTiers(all, diagnostics);
  reportUnknownProfiles(all, diagnostics);
  return all;
}

/** With etcd Calico writes AdminNetworkPolicies as its own policies, in a tier of its own; the tier default is always there. */
const isUsed = ({ metadata: { name } }: AnyObject, used: ReadonlySet<string | undefined>): boolean =>
  name !== 'default' && used.has(name);

const hasKind = ({ value }: DumpedPolicyObject, kind: string): boolean =>
  value.kind === kind && value.apiVersion.startsWith('projectcalico.org/');

const namesOf = (objects: readonly DumpedPolicyObject[], kind: string): ReadonlySet<string> =>
  new Set(objects.filter((each) => hasKind(each, kind)).map(({ value }) => value.metadata.name));

const hostsOf = (objects: readonly DumpedPolicyObject[]): readonly DumpedPolicyObject[] =>
  objects.filter((each) => hasKind(each, 'HostEndpoint'));

const profilesOf = ({ value }: DumpedPolicyObject): readonly string[] =>
  (value as CalicoHostEndpoint).spec.profiles;

/** Without it, the host endpoints that have it would close. */
function missingProfiles(
  objects: readonly DumpedPolicyObject[],
  diagnostics: Diagnostic[],
): DumpedPolicyObject[] {
  const isNeeded = hostsOf(objects).some((host) => profilesOf(host).includes(allowProfileName));
  if (!isNeeded || namesOf(objects, 'Profile').has(allowProfileName)) return [];
  const object = `Profile ${allowProfileName}`;
  diagnosticsFor(object, diagnostics).note(
    'is built into Calico, and written as an object that allows everything',
  );
  return [{ object, value: allowProfile, created: 0 }];
}

/** A policy in a tier that is nowhere has no place that anyone could know. */
function reportUnknownTiers(objects: readonly DumpedPolicyObject[], diagnostics: Diagnostic[]): void {
  const known = new Set([...namesOf(objects, 'Tier'), 'default']);
  for (const each of objects) {
    const tier = tierOf(each);
    if (tier !== undefined && !known.has(tier))
      diagnosticsFor(each.object, diagnostics).error(
        'spec.tier',
        `is ${tier}, and the dump has no such Tier; dump tiers.crd.projectcalico.org, too`,
      );
  }
}

function tierOf(each: DumpedPolicyObject): string | undefined {
  if (!hasKind(each, 'NetworkPolicy') && !hasKind(each, 'GlobalNetworkPolicy')) return undefined;
  return (each.value as AnyObject & { readonly spec: { readonly tier: string } }).spec.tier;
}

function reportUnknownProfiles(objects: readonly DumpedPolicyObject[], diagnostics: Diagnostic[]): void {
  const known = namesOf(objects, 'Profile');
  for (const host of hostsOf(objects))
    for (const name of profilesOf(host).filter((profile) => !known.has(profile)))
      diagnosticsFor(host.object, diagnostics).warn(
        'spec.profiles',
        `names ${name}, which the dump does not have: it allows nothing until it is there`,
      );
}
