import { familyOf } from '@podwire/addresses';
import { z } from 'zod';
import { defineKind } from '../define-kind.js';
import { clusterMetadata, typeFields } from '../shared/metadata.js';
import { address, net } from '../shared/text.js';
import { conditions, statusNames } from './conditions.js';
import {
  addProblems,
  apiVersion,
  namespaceName,
  type Problem,
  showList,
  showValue,
  uniqueList,
} from './text.js';

const staticRoute = z
  .strictObject({
    policy: z
      .enum(['policyDst', 'policySrc'])
      .default('policyDst')
      .describe('Compares cidr with the destination of a packet, or with its source.'),
    cidr: net.describe('The prefix, or address, that the route is for.'),
    nextHopIP: address.describe('The address that its packets are sent to.'),
  })
  .refine(({ cidr, nextHopIP }) => familyOf(cidr) === familyOf(nextHopIP), {
    error: 'must be of the same family as cidr',
    path: ['nextHopIP'],
  });

const spec = z.strictObject({
  namespaces: uniqueList(namespaceName).describe('Namespaces whose subnets may lie in it.'),
  staticRoutes: z.array(staticRoute).max(1024).default([]).describe('Routes of its router.'),
});

const name = z.string().max(253).default('');

const status = z.strictObject({
  conditions: conditions.describe('How the work on it goes.'),
  standby: z.boolean().default(false).describe('Its router is there.'),
  default: z.boolean().default(false).describe('It is that of the cluster, ovn-cluster.'),
  defaultLogicalSwitch: name.describe('The subnet of pods whose namespace names none.'),
  router: name.describe('Its router in OVN.'),
  tcpLoadBalancer: name.describe('The load balancer of its services with TCP.'),
  tcpSessionLoadBalancer: name.describe('The same, for services that keep clients at a backend.'),
  udpLoadBalancer: name.describe('The load balancer of its services with UDP.'),
  udpSessionLoadBalancer: name.describe('The same, for services that keep clients at a backend.'),
  subnets: statusNames.describe('Subnets that lie in it.'),
});

const schema = z.strictObject({
  ...typeFields(apiVersion, 'Vpc'),
  metadata: clusterMetadata(),
  spec: spec
    .superRefine(({ staticRoutes }, context) => addProblems(findDoubles(staticRoutes), context))
    .prefault({})
    .describe('Its namespaces and routes.'),
  status: status.optional().describe('What the controller has found. Not taken from files.'),
});

/** Several next hops of one prefix share its packets; the same one twice is a mistake. */
function* findDoubles(routes: readonly z.output<typeof staticRoute>[]): Generator<Problem> {
  const first = new Map<string, number>();
  for (const [index, { policy, cidr, nextHopIP }] of routes.entries()) {
    const key = `${policy} ${cidr} ${nextHopIP}`;
    const earlier = first.get(key);
    if (earlier === undefined) first.set(key, index);
    else yield [['staticRoutes', index], `is the same route as staticRoutes[${earlier}]`];
  }
}

export type Vpc = z.output<typeof schema>;

export const vpcKind = defineKind<Vpc>({
  apiVersion,
  kind: 'Vpc',
  plural: 'vpcs',
  shortNames: [],
  namespaced: false,
  summary: 'A router with subnets of its own, whose addresses may be those of another.',
  schema,
  columns: [
    { title: 'STANDBY', show: ({ status: found }) => showValue(found?.standby) },
    { title: 'SUBNETS', show: ({ status: found }) => showList(found?.subnets) },
    { title: 'NAMESPACES', show: ({ spec: { namespaces } }) => showList(namespaces) },
  ],
});
