import { z } from 'zod';
import { defineKind } from '../define-kind.js';
import { namespacedMetadata } from '../shared/metadata.js';
import { fillTypes, policyFields } from './policy-spec.js';

const spec = z.strictObject(policyFields).transform(fillTypes);

const schema = z.strictObject({
  apiVersion: z.literal('projectcalico.org/v3').describe('The API group and version.'),
  kind: z.literal('NetworkPolicy').describe('The kind.'),
  metadata: namespacedMetadata(),
  spec: spec.prefault({}).describe('Tier, order, selector and rules.'),
});

export type CalicoNetworkPolicy = z.output<typeof schema>;

export const calicoNetworkPolicyKind = defineKind<CalicoNetworkPolicy>({
  apiVersion: 'projectcalico.org/v3',
  kind: 'NetworkPolicy',
  plural: 'networkpolicies',
  shortNames: ['caliconetpol'],
  namespaced: true,
  summary: 'Ordered rules for pods of a namespace, in a tier.',
  schema,
  columns: [
    { title: 'TIER', show: ({ spec: { tier } }) => tier },
    { title: 'ORDER', show: ({ spec }) => `${spec.order ?? '-'}` },
    { title: 'TYPES', show: ({ spec: { types } }) => types.join(',') },
    { title: 'SELECTOR', wide: true, show: ({ spec: { selector } }) => selector || 'all()' },
  ],
});
