import { z } from 'zod';
import { defineKind } from '../define-kind.js';
import { clusterMetadata } from '../shared/metadata.js';
import { keepsNamedPorts, namedPortProblem, ports } from './admin-ports.js';
import { baselineEgressPeer, ingressPeer, ruleName, subject } from './peers.js';

const action = z.enum(['Allow', 'Deny']).describe('What happens to traffic that matches.');

const ingressRule = z.strictObject({
  name: ruleName,
  action,
  from: z.array(ingressPeer).min(1).max(100).describe('Who connects, any of them.'),
  ports,
});

const egressRule = z
  .strictObject({
    name: ruleName,
    action,
    to: z.array(baselineEgressPeer).min(1).max(100).describe('Who is connected to, any of them.'),
    ports,
  })
  .refine(keepsNamedPorts, namedPortProblem);

const spec = z.strictObject({
  subject,
  ingress: z
    .array(ingressRule)
    .max(100)
    .optional()
    .describe('Rules for what comes in; the first that matches acts.'),
  egress: z
    .array(egressRule)
    .max(100)
    .optional()
    .describe('Rules for what goes out; the first that matches acts.'),
});

const schema = z.strictObject({
  apiVersion: z.literal('policy.networking.k8s.io/v1alpha1').describe('The API group and version.'),
  kind: z.literal('BaselineAdminNetworkPolicy').describe('The kind.'),
  metadata: clusterMetadata().refine(({ name }) => name === 'default', {
    path: ['name'],
    error: 'must be default: there is one baseline in a cluster',
  }),
  spec: spec.describe('Subject and rules.'),
});

export type BaselineAdminNetworkPolicy = z.output<typeof schema>;
export type BaselineIngressRule = z.output<typeof ingressRule>;
export type BaselineEgressRule = z.output<typeof egressRule>;

export const baselineAdminNetworkPolicyKind = defineKind<BaselineAdminNetworkPolicy>({
  apiVersion: 'policy.networking.k8s.io/v1alpha1',
  kind: 'BaselineAdminNetworkPolicy',
  plural: 'baselineadminnetworkpolicies',
  shortNames: ['banp'],
  namespaced: false,
  summary: 'Rules for what no other policy has decided. Its name is `default`.',
  schema,
  columns: [],
});
