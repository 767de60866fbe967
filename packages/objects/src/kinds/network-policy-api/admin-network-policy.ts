/** AdminNetworkPolicy, in front of all NetworkPolicies, and BaselineAdminNetworkPolicy, behind them. */
import { z } from 'zod';
import { defineKind } from '../define-kind.js';
import { clusterMetadata, typeFields } from '../shared/metadata.js';
import { keepsNamedPorts, namedPortProblem, ports } from './admin-ports.js';
import { baselineEgressPeer, type EgressPeer, egressPeer, ingressPeer, ruleName, subject } from './peers.js';

/** Subject and rules. The kinds differ in their actions and in the peers of egress. */
function describeRules<Action extends z.ZodType, Peer extends z.ZodType<EgressPeer>>(
  action: Action,
  peer: Peer,
) {
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
      to: z.array(peer).min(1).max(100).describe('Who is connected to, any of them.'),
      ports,
    })
    .refine(keepsNamedPorts, namedPortProblem);
  return {
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
  };
}

const action = z
  .enum(['Allow', 'Deny', 'Pass'])
  .describe('Allow and Deny decide. Pass skips all other policies of this kind: NetworkPolicy decides.');

const baselineAction = z.enum(['Allow', 'Deny']).describe('What happens to traffic that matches.');

const priority = z.int().min(0).max(1000).describe('Lower ones come first. Of equal ones, the name decides.');

const admin = z.strictObject({
  ...typeFields('policy.networking.k8s.io/v1alpha1', 'AdminNetworkPolicy'),
  metadata: clusterMetadata(),
  spec: z
    .strictObject({ priority, ...describeRules(action, egressPeer) })
    .describe('Priority, subject and rules.'),
});

const baseline = z.strictObject({
  ...typeFields('policy.networking.k8s.io/v1alpha1', 'BaselineAdminNetworkPolicy'),
  metadata: clusterMetadata().refine(({ name }) => name === 'default', {
    path: ['name'],
    error: 'must be default: there is one baseline in a cluster',
  }),
  spec: z.strictObject(describeRules(baselineAction, baselineEgressPeer)).describe('Subject and rules.'),
});

export type AdminNetworkPolicy = z.output<typeof admin>;
export type BaselineAdminNetworkPolicy = z.output<typeof baseline>;

export const adminNetworkPolicyKind = defineKind<AdminNetworkPolicy>({
  apiVersion: 'policy.networking.k8s.io/v1alpha1',
  kind: 'AdminNetworkPolicy',
  plural: 'adminnetworkpolicies',
  shortNames: ['anp'],
  namespaced: false,
  summary: 'Rules of the administrator, in front of all NetworkPolicies.',
  schema: admin,
  columns: [{ title: 'PRIORITY', show: ({ spec }) => `${spec.priority}` }],
});

export const baselineAdminNetworkPolicyKind = defineKind<BaselineAdminNetworkPolicy>({
  apiVersion: 'policy.networking.k8s.io/v1alpha1',
  kind: 'BaselineAdminNetworkPolicy',
  plural: 'baselineadminnetworkpolicies',
  shortNames: ['banp'],
  namespaced: false,
  summary: 'Rules for what no other policy has decided. Its name is `default`.',
  schema: baseline,
  columns: [],
});
