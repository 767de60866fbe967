import { z } from 'zod';
import { defineKind } from '../define-kind.js';
import { clusterMetadata, typeFields } from '../shared/metadata.js';
import { order } from './policy-spec.js';

const defaultOrder = 1_000_000;

const spec = z.strictObject({
  order: order.optional().describe('Lower ones come first. Absent: behind all that have one.'),
  defaultAction: z
    .enum(['Deny', 'Pass'])
    .default('Deny')
    .describe('What happens at the end of the tier to what one of its policies selects.'),
});

const schema = z
  .strictObject({
    ...typeFields('projectcalico.org/v3', 'Tier'),
    metadata: clusterMetadata(),
    spec: spec.prefault({}).describe('Its place and its end.'),
  })
  .superRefine(({ metadata: { name }, spec: { order: place, defaultAction } }, context) => {
    if (name !== 'default') return;
    const issue = (field: string, message: string): void =>
      context.addIssue({ code: 'custom', path: ['spec', field], message });
    if (place !== undefined && place !== defaultOrder)
      issue('order', `must be ${defaultOrder} for the tier default, which Kubernetes' policies are in`);
    if (defaultAction !== 'Deny') issue('defaultAction', 'must be Deny for the tier default');
  });

export type CalicoTier = z.output<typeof schema>;

export const calicoTierKind = defineKind<CalicoTier>({
  apiVersion: 'projectcalico.org/v3',
  kind: 'Tier',
  plural: 'tiers',
  shortNames: [],
  namespaced: false,
  summary: 'A place for policies: tiers are evaluated one after the other, by their order.',
  schema,
  columns: [
    { title: 'ORDER', show: ({ spec }) => `${spec.order ?? '-'}` },
    { title: 'DEFAULT', show: ({ spec: { defaultAction } }) => defaultAction },
  ],
});
