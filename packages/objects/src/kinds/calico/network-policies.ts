/** Calico's policies of one namespace, and those of all namespaces and of host endpoints. */
import { z } from 'zod';
import type { Column } from '../../contract.js';
import { defineKind } from '../define-kind.js';
import { clusterMetadata, namespacedMetadata, typeFields } from '../shared/metadata.js';
import { fillTypes, policyFields } from './policy-spec.js';
import { ownNamespaceSelector } from './text.js';

const globalFields = z.strictObject({
  ...policyFields,
  namespaceSelector: ownNamespaceSelector
    .optional()
    .describe('Only what lies in namespaces with these labels: host endpoints lie in none. Absent: both.'),
  doNotTrack: z
    .boolean()
    .default(false)
    .describe('For host endpoints: in front of connection tracking, for packets without it.'),
  preDNAT: z
    .boolean()
    .default(false)
    .describe('For host endpoints: in front of the translation of destinations, which services use.'),
  applyOnForward: z
    .boolean()
    .default(false)
    .describe('For host endpoints: also for what the node only forwards.'),
});

type GlobalFields = z.output<typeof globalFields>;
type Problem = readonly [field: string, message: string];

function* findProblems({
  doNotTrack,
  preDNAT,
  applyOnForward,
  egress = [],
  types = [],
}: GlobalFields): Generator<Problem> {
  if (preDNAT && doNotTrack) yield ['preDNAT', 'must not be true beside `doNotTrack: true`'];
  if (preDNAT && egress.length > 0) yield ['egress', 'must not be there with `preDNAT: true`'];
  if (preDNAT && types.includes('Egress')) yield ['types', 'must not have Egress with `preDNAT: true`'];
  if ((preDNAT || doNotTrack) && !applyOnForward)
    yield ['applyOnForward', 'must be true with `preDNAT: true` or `doNotTrack: true`'];
}

/** A service without a namespace is one of the policy's own, which a global policy does not have. */
function* findServices({ ingress = [], egress = [] }: GlobalFields): Generator<readonly (string | number)[]> {
  for (const [list, side, rules] of [
    ['ingress', 'source', ingress],
    ['egress', 'destination', egress],
  ] as const)
    for (const [index, rule] of rules.entries()) {
      const services = rule[side]?.services;
      if (services !== undefined && services.namespace === undefined)
        yield [list, index, side, 'services', 'namespace'];
    }
}

const globalSpec = globalFields
  .superRefine((read, context) => {
    for (const [field, message] of findProblems(read))
      context.addIssue({ code: 'custom', path: [field], message });
    for (const path of findServices(read))
      context.addIssue({ code: 'custom', path: [...path], message: 'is missing' });
  })
  .transform(fillTypes);

const spec = z.strictObject(policyFields).transform(fillTypes);

const networkPolicy = z.strictObject({
  ...typeFields('projectcalico.org/v3', 'NetworkPolicy'),
  metadata: namespacedMetadata(),
  spec: spec.prefault({}).describe('Tier, order, selector and rules.'),
});

const globalNetworkPolicy = z.strictObject({
  ...typeFields('projectcalico.org/v3', 'GlobalNetworkPolicy'),
  metadata: clusterMetadata(),
  spec: globalSpec.prefault({}).describe('Tier, order, selector and rules.'),
});

export type CalicoNetworkPolicy = z.output<typeof networkPolicy>;
export type CalicoGlobalNetworkPolicy = z.output<typeof globalNetworkPolicy>;

const columns: readonly Column<CalicoNetworkPolicy | CalicoGlobalNetworkPolicy>[] = [
  { title: 'TIER', show: ({ spec: { tier } }) => tier },
  { title: 'ORDER', show: ({ spec: { order } }) => `${order ?? '-'}` },
  { title: 'TYPES', show: ({ spec: { types } }) => types.join(',') },
  { title: 'SELECTOR', wide: true, show: ({ spec: { selector } }) => selector || 'all()' },
];

export const calicoNetworkPolicyKind = defineKind<CalicoNetworkPolicy>({
  apiVersion: 'projectcalico.org/v3',
  kind: 'NetworkPolicy',
  plural: 'networkpolicies',
  shortNames: ['caliconetpol'],
  namespaced: true,
  summary: 'Ordered rules for pods of a namespace, in a tier.',
  schema: networkPolicy,
  columns,
});

export const calicoGlobalNetworkPolicyKind = defineKind<CalicoGlobalNetworkPolicy>({
  apiVersion: 'projectcalico.org/v3',
  kind: 'GlobalNetworkPolicy',
  plural: 'globalnetworkpolicies',
  shortNames: ['gnp'],
  namespaced: false,
  summary: 'Ordered rules for pods of all namespaces and for host endpoints, in a tier.',
  schema: globalNetworkPolicy,
  columns,
});
