import { z } from 'zod';
import { defineKind } from '../define-kind.js';
import { clusterMetadata } from '../shared/metadata.js';
import { keepsNamedPorts, namedPortProblem, ports } from './admin-ports.js';
import { egressPeer, ingressPeer, ruleName, subject } from './peers.js';

const action = z
  .enum(['Allow', 'Deny', 'Pass'])
  .describe('Allow and Deny decide. Pass skips all other policies of this kind: NetworkPolicy decides.');

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
    to: z.array(egressPeer).min(1).max(100).describe('Who is connected to, any of them.'),
    ports,
  })
  .refine(keepsNamedPorts, namedPortProblem);

const spec = z.strictObject({
  priority: z.int().min(0).max(1000).describe('Lower ones come first. Of equal ones, the name decides.'),
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
  kind: z.literal('AdminNetworkPolicy').describe('The kind.'),
  metadata: clusterMetadata(),
  spec: spec.describe('Priority, subject and rules.'),
});

export type AdminNetworkPolicy = z.output<typeof schema>;
export type AdminIngressRule = z.output<typeof ingressRule>;
export type AdminEgressRule = z.output<typeof egressRule>;

export const adminNetworkPolicyKind = defineKind<AdminNetworkPolicy>({
  apiVersion: 'policy.networking.k8s.io/v1alpha1',
  kind: 'AdminNetworkPolicy',
  plural: 'adminnetworkpolicies',
  shortNames: ['anp'],
  namespaced: false,
  summary: 'Rules of the administrator, in front of all NetworkPolicies.',
  schema,
  columns: [{ title: 'PRIORITY', show: ({ spec: { priority } }) => `${priority}` }],
});
