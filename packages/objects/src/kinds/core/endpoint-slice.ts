import { labelRule } from '@podwire/apimachinery';
import { z } from 'zod';
import { defineKind } from '../define-kind.js';
import { namespacedMetadata, typeFields } from '../shared/metadata.js';
import { address, named, portNumber, protocol } from '../shared/text.js';

const conditions = z.strictObject({
  ready: z.boolean().optional().describe('Whether it takes new connections; unknown means that it does.'),
  serving: z.boolean().optional().describe('As ready, also while it ends.'),
  terminating: z.boolean().optional().describe('Whether it ends.'),
});

const target = z.strictObject({
  kind: z.string().max(63).optional().describe('Pod, mostly.'),
  apiVersion: z.string().max(253).optional().describe('The API group and version of the kind.'),
  namespace: z.string().max(63).optional().describe('The namespace of the object.'),
  name: z.string().max(253).optional().describe('The name of the object.'),
  uid: z.string().max(253).optional().describe('The uid of the object.'),
  resourceVersion: z.string().max(253).optional().describe('The version of the object.'),
  fieldPath: z.string().max(1024).optional().describe('A part of the object.'),
});

const zones = z.array(z.strictObject({ name: z.string().max(253).describe('The name of the zone.') })).max(8);

const endpoint = z.strictObject({
  addresses: z.array(address).min(1).max(100).describe('Its addresses.'),
  conditions: conditions.optional().describe('The state of the endpoint.'),
  hostname: named(labelRule).optional().describe('Its host name.'),
  nodeName: z.string().max(253).optional().describe('The node that it is on.'),
  targetRef: target.optional().describe('The object that it is.'),
  zone: z.string().max(253).optional().describe('The zone that it is in.'),
  deprecatedTopology: z.record(z.string(), z.string()).optional().describe('Of older versions.'),
  hints: z
    .strictObject({
      forZones: zones.optional().describe('Zones whose clients should use it.'),
      forNodes: zones.optional().describe('Nodes whose clients should use it.'),
    })
    .optional()
    .describe('Who should use it.'),
});

const port = z.strictObject({
  name: z
    .union([z.literal(''), named(labelRule)])
    .optional()
    .describe('The name of the service’s port.'),
  protocol: protocol.default('TCP').describe('TCP, UDP or SCTP.'),
  port: portNumber.optional().describe('The port; absent: all of them.'),
  appProtocol: z.string().max(253).optional().describe('What is spoken.'),
});

const schema = z
  .strictObject({
    ...typeFields('discovery.k8s.io/v1', 'EndpointSlice'),
    metadata: namespacedMetadata(),
    addressType: z
      .enum(['IPv4', 'IPv6'])
      .describe('The family of all its addresses. Domain names are refused.'),
    endpoints: z.array(endpoint).max(1000).default([]).describe('Who serves.'),
    ports: z.array(port).max(20_000).optional().describe('Ports that each endpoint serves.'),
  })
  .superRefine(({ addressType, endpoints }, context) => {
    for (const [index, { addresses }] of endpoints.entries())
      for (const [position, text] of addresses.entries())
        if (text.includes(':') !== (addressType === 'IPv6'))
          context.addIssue({
            code: 'custom',
            path: ['endpoints', index, 'addresses', position],
            message: `must be of the family ${addressType}`,
          });
  });

export type EndpointSlice = z.output<typeof schema>;

/** The label that names the service of a slice. */
export const serviceNameLabel = 'kubernetes.io/service-name';

export const endpointSliceKind = defineKind<EndpointSlice>({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  plural: 'endpointslices',
  shortNames: [],
  namespaced: true,
  summary: `Endpoints of the service that the label ${serviceNameLabel} names.`,
  schema,
  columns: [
    { title: 'ADDRESSTYPE', show: ({ addressType }) => addressType },
    {
      title: 'PORTS',
      show: ({ ports = [] }) => ports.map((each) => `${each.port ?? '*'}/${each.protocol}`).join(','),
    },
    {
      title: 'ENDPOINTS',
      show: ({ endpoints }) => endpoints.flatMap(({ addresses }) => addresses).join(','),
    },
  ],
});
