import { labelRule } from '@podwire/apimachinery';
import { z } from 'zod';
import { defineKind } from '../define-kind.js';
import { namespacedMetadata, typeFields } from '../shared/metadata.js';
import { address, labels, named, portName, portNumber, protocol } from '../shared/text.js';

const families = z.enum(['IPv4', 'IPv6']);
const trafficPolicy = z.enum(['Cluster', 'Local']);

const port = z.strictObject({
  name: named(labelRule).optional().describe('Name of the port; needed where there are several.'),
  protocol: protocol.default('TCP').describe('TCP, UDP or SCTP.'),
  port: portNumber.describe('The port of the service.'),
  targetPort: z
    .union([portNumber, portName])
    .optional()
    .describe('Number or name of the port of the pods; the same as `port` by default.'),
  nodePort: portNumber.optional().describe('The port of every node, for NodePort and LoadBalancer.'),
  appProtocol: z.string().max(253).optional().describe('What is spoken, for programs that ask.'),
});

const spec = z.strictObject({
  selector: labels.optional().describe('Labels of its pods. Without it, EndpointSlices name its endpoints.'),
  ports: z.array(port).max(256).optional().describe('Its ports.'),
  type: z
    .enum(['ClusterIP', 'NodePort', 'LoadBalancer', 'ExternalName'])
    .default('ClusterIP')
    .describe('How it is reached.'),
  clusterIP: z
    .union([z.literal(''), z.literal('None'), address])
    .optional()
    .describe('Its address; None for a service without one.'),
  clusterIPs: z
    .array(z.union([z.literal('None'), address]))
    .max(2)
    .optional()
    .describe('Its addresses, one for each family.'),
  externalIPs: z.array(address).max(64).optional().describe('Addresses of nodes that take its traffic, too.'),
  externalName: z.string().max(253).optional().describe('The domain name of an ExternalName service.'),
  ipFamilies: z.array(families).max(2).optional().describe('Families of its addresses.'),
  ipFamilyPolicy: z
    .enum(['SingleStack', 'PreferDualStack', 'RequireDualStack'])
    .optional()
    .describe('Whether it has addresses of one family or both.'),
  sessionAffinity: z
    .enum(['None', 'ClientIP'])
    .optional()
    .describe('Whether a client stays with one endpoint.'),
  internalTrafficPolicy: trafficPolicy.optional().describe('Which endpoints serve clients of the cluster.'),
  externalTrafficPolicy: trafficPolicy.optional().describe('Which endpoints serve clients from outside.'),
  publishNotReadyAddresses: z.boolean().optional().describe('Whether pods that are not ready are endpoints.'),
});

const schema = z.strictObject({
  ...typeFields('v1', 'Service'),
  metadata: namespacedMetadata(labelRule),
  spec: spec.describe('What the service is.'),
});

export type Service = z.output<typeof schema>;

export const serviceKind = defineKind<Service>({
  apiVersion: 'v1',
  kind: 'Service',
  plural: 'services',
  shortNames: ['svc'],
  namespaced: true,
  summary: 'A service, read for policies that name it as a peer. Podwire answers on none of its addresses.',
  schema,
  columns: [
    { title: 'TYPE', show: ({ spec: { type } }) => type },
    {
      title: 'PORTS',
      show: ({ spec: { ports = [] } }) => ports.map((each) => `${each.port}/${each.protocol}`).join(','),
    },
  ],
});
