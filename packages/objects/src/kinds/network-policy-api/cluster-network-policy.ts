import { z } from 'zod';
import { defineKind } from '../define-kind.js';
import { clusterMetadata, typeFields } from '../shared/metadata.js';
import { isExactlyOne, portName, portNumber } from '../shared/text.js';
import { egressPeer, hasPeersWithoutPorts, ingressPeer, ruleName, subject } from './peers.js';

const action = z
  .enum(['Accept', 'Deny', 'Pass'])
  .describe('Accept and Deny decide. Pass skips the rest of the tier: the next tier decides.');

const range = z
  .strictObject({
    start: portNumber.describe('The first port.'),
    end: portNumber.describe('The last port, above `start`.'),
  })
  .refine(({ start, end }) => start < end, { path: ['end'], error: 'must be above `start`' });

const destinationPort = z
  .strictObject({
    number: portNumber.optional().describe('One port.'),
    range: range.optional().describe('Ports from `start` to `end`.'),
  })
  .refine(isExactlyOne, { error: 'must have exactly one of number and range' });

/** The API asks for one property at least, and there is only this. */
const match = z.strictObject({ destinationPort: destinationPort.describe('The port of the destination.') });

const protocolMatch = z
  .strictObject({
    tcp: match.optional().describe('TCP connections.'),
    udp: match.optional().describe('UDP packets.'),
    sctp: match.optional().describe('SCTP associations.'),
    destinationNamedPort: portName.optional().describe('A port of the destination’s pod by its name.'),
  })
  .refine(isExactlyOne, { error: 'must have exactly one of tcp, udp, sctp and destinationNamedPort' });

const protocols = z
  .array(protocolMatch)
  .min(1)
  .max(25)
  .optional()
  .describe('Protocols and ports, any of them. Absent: all traffic.');

const ingressRule = z.strictObject({
  name: ruleName,
  action,
  from: z.array(ingressPeer).min(1).max(25).describe('Who connects, any of them.'),
  protocols,
});

const egressRule = z
  .strictObject({
    name: ruleName,
    action,
    to: z.array(egressPeer).min(1).max(25).describe('Who is connected to, any of them.'),
    protocols,
  })
  .refine(
    ({ to, protocols: list = [] }) =>
      !hasPeersWithoutPorts(to) || list.every((each) => each.destinationNamedPort === undefined),
    {
      path: ['protocols'],
      error: 'must name no port where a peer is `nodes` or `networks`, which have no named ports',
    },
  );

const spec = z.strictObject({
  tier: z
    .enum(['Admin', 'Baseline'])
    .describe('Admin: in front of all NetworkPolicies. Baseline: for what none of them has decided.'),
  priority: z
    .int()
    .min(0)
    .max(1000)
    .describe('Lower ones come first in their tier. Of equal ones, the name decides.'),
  subject,
  ingress: z
    .array(ingressRule)
    .max(25)
    .optional()
    .describe('Rules for what comes in; the first that matches acts.'),
  egress: z
    .array(egressRule)
    .max(25)
    .optional()
    .describe('Rules for what goes out; the first that matches acts.'),
});

const schema = z.strictObject({
  ...typeFields('policy.networking.k8s.io/v1alpha2', 'ClusterNetworkPolicy'),
  metadata: clusterMetadata(),
  spec: spec.describe('Tier, priority, subject and rules.'),
});

export type ClusterNetworkPolicy = z.output<typeof schema>;
export type ClusterProtocolMatch = z.output<typeof protocolMatch>;

export const clusterNetworkPolicyKind = defineKind<ClusterNetworkPolicy>({
  apiVersion: 'policy.networking.k8s.io/v1alpha2',
  kind: 'ClusterNetworkPolicy',
  plural: 'clusternetworkpolicies',
  shortNames: ['cnp'],
  namespaced: false,
  summary:
    'Rules of the administrator, in the tier in front of all NetworkPolicies or in the one behind them.',
  schema,
  columns: [
    { title: 'TIER', show: ({ spec: { tier } }) => tier },
    { title: 'PRIORITY', show: ({ spec: { priority } }) => `${priority}` },
  ],
});
