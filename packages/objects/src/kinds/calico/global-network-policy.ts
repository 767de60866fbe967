import { z } from 'zod';
import { defineKind } from '../define-kind.js';
import { clusterMetadata } from '../shared/metadata.js';
import { fillTypes, policyFields } from './policy-spec.js';
import { ownNamespaceSelector } from './text.js';

const fields = z.strictObject({
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

type Fields = z.output<typeof fields>;
type Problem = readonly [field: string, message: string];

function* findProblems({
  doNotTrack,
  preDNAT,
  applyOnForward,
  egress = [],
  types = [],
}: Fields): Generator<Problem> {
  if (preDNAT && doNotTrack) yield ['preDNAT', 'must not be true beside `doNotTrack: true`'];
  if (preDNAT && egress.length > 0) yield ['egress', 'must not be there with `preDNAT: true`'];
  if (preDNAT && types.includes('Egress')) yield ['types', 'must not have Egress with `preDNAT: true`'];
  if ((preDNAT || doNotTrack) && !applyOnForward)
    yield ['applyOnForward', 'must be true with `preDNAT: true` or `doNotTrack: true`'];
}

/** A service without a namespace is one of the policy's own, which a global policy does not have. */
function* findServices({ ingress = [], egress = [] }: Fields): Generator<readonly (string | number)[]> {
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

const spec = fields
  .superRefine((read, context) => {
    for (const [field, message] of findProblems(read))
      context.addIssue({ code: 'custom', path: [field], message });
    for (const path of findServices(read))
      context.addIssue({ code: 'custom', path: [...path], message: 'is missing' });
  })
  .transform(fillTypes);

const schema = z.strictObject({
  apiVersion: z.literal('projectcalico.org/v3').describe('The API group and version.'),
  kind: z.literal('GlobalNetworkPolicy').describe('The kind.'),
  metadata: clusterMetadata(),
  spec: spec.prefault({}).describe('Tier, order, selector and rules.'),
});

export type CalicoGlobalNetworkPolicy = z.output<typeof schema>;

export const calicoGlobalNetworkPolicyKind = defineKind<CalicoGlobalNetworkPolicy>({
  apiVersion: 'projectcalico.org/v3',
  kind: 'GlobalNetworkPolicy',
  plural: 'globalnetworkpolicies',
  shortNames: ['gnp'],
  namespaced: false,
  summary: 'Ordered rules for pods of all namespaces and for host endpoints, in a tier.',
  schema,
  columns: [
    { title: 'TIER', show: ({ spec: { tier } }) => tier },
    { title: 'ORDER', show: ({ spec }) => `${spec.order ?? '-'}` },
    { title: 'TYPES', show: ({ spec: { types } }) => types.join(',') },
    { title: 'SELECTOR', wide: true, show: ({ spec: { selector } }) => selector || 'all()' },
  ],
});
