import { z } from 'zod';
import { defineKind } from '../define-kind.js';
import { clusterMetadata, typeFields } from '../shared/metadata.js';
import { labels } from '../shared/text.js';
import { egressRules, ingressRules } from './rule.js';

const spec = z.strictObject({
  ingress: ingressRules.describe('Rules for what comes in; the first that matches acts.'),
  egress: egressRules.describe('Rules for what goes out; the first that matches acts.'),
  labelsToApply: labels.optional().describe('Labels of all endpoints that have the profile.'),
});

const schema = z.strictObject({
  ...typeFields('projectcalico.org/v3', 'Profile'),
  metadata: clusterMetadata(),
  spec: spec.prefault({}).describe('Its rules and labels.'),
});

export type CalicoProfile = z.output<typeof schema>;

export const calicoProfileKind = defineKind<CalicoProfile>({
  apiVersion: 'projectcalico.org/v3',
  kind: 'Profile',
  plural: 'profiles',
  shortNames: [],
  namespaced: false,
  summary:
    'Rules where no tier has decided. Pods have the profiles kns.NAMESPACE and ksa.NAMESPACE.ACCOUNT, host endpoints those that they name.',
  schema,
  columns: [
    { title: 'INGRESS', show: ({ spec: { ingress = [] } }) => `${ingress.length}` },
    { title: 'EGRESS', show: ({ spec: { egress = [] } }) => `${egress.length}` },
  ],
});
