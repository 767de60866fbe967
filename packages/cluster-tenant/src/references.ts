/** Which objects an object names, and how the two are linked in answers and in the store. */
import type { Entries, LinkName, ObjectType, Reference } from './contract.js';
import { keyIn } from './keys.js';

const link = (name: string): LinkName => ({ among: 'links', name });
const set = (name: string): LinkName => ({ among: 'link-sets', name });

const toTenant = (key: string, backward: string): Reference => ({
  ...{ type: 'tenant', key },
  ...{ forward: link('Tenant'), backward: set(backward) },
});

type Finders = { readonly [T in ObjectType]: (value: Entries[T]) => readonly Reference[] };

const finders: Finders = {
  global: () => [],
  tenant: () => [],
  network: ({ config }) => [toTenant(config.tenantName, 'Networks')],
  endpointGroup: ({ config }) => referencesOfGroup(config),
  policy: ({ tenantName }) => [toTenant(tenantName, 'Policies')],
  rule: referencesOfRule,
  netprofile: ({ tenantName }) => [toTenant(tenantName, 'NetProfiles')],
  appProfile: (profile) => [
    toTenant(profile.tenantName, 'AppProfiles'),
    ...profile.endpointGroups.map((name): Reference => ({
      ...{ type: 'endpointGroup', key: keyIn(profile, name) },
      ...{ forward: set('EndpointGroups'), backward: link('AppProfile') },
    })),
  ],
};

export const referencesOf = <T extends ObjectType>(type: T, value: Entries[T]): readonly Reference[] =>
  finders[type](value);

function referencesOfGroup(group: Entries['endpointGroup']['config']): readonly Reference[] {
  const backward = set('EndpointGroups');
  const { netProfile } = group;
  return [
    toTenant(group.tenantName, 'EndpointGroups'),
    { type: 'network', key: keyIn(group, group.networkName), forward: link('Network'), backward },
    ...group.policies.map((name): Reference => ({
      ...{ type: 'policy', key: keyIn(group, name) },
      ...{ forward: set('Policies'), backward },
    })),
    ...(netProfile === undefined
      ? []
      : [
          {
            ...({ type: 'netprofile', key: keyIn(group, netProfile) } as const),
            ...{ forward: link('NetProfile'), backward },
          },
        ]),
  ];
}

function referencesOfRule(rule: Entries['rule']): readonly Reference[] {
  const group = rule.fromEndpointGroup ?? rule.toEndpointGroup;
  const network = rule.fromNetwork ?? rule.toNetwork;
  const policy: Reference = {
    ...{ type: 'policy', key: keyIn(rule, rule.policyName) },
    ...{ forward: set('Policies'), backward: set('Rules') },
  };
  return [
    policy,
    ...(group === undefined
      ? []
      : [
          {
            ...({ type: 'endpointGroup', key: keyIn(rule, group) } as const),
            ...{ forward: link('MatchEndpointGroup'), backward: set('MatchRules') },
          },
        ]),
    // The original has no link for this, so there a rule outlives the network that it names.
    ...(network === undefined ? [] : [{ type: 'network', key: keyIn(rule, network) } as const]),
  ];
}
