import { formatAddress, parseAddress } from '@podwire/addresses';
import { z } from 'zod';
import { defineKind } from '../define-kind.js';
import { clusterMetadata, typeFields } from '../shared/metadata.js';
import { address } from '../shared/text.js';
import { unsupported } from './text.js';

const link = /^(\*|[^\s/:]{1,15})$/;

const spec = z
  .strictObject({
    node: z.string().min(1).max(253).describe('The name of the node that the interface is of.'),
    interfaceName: z
      .string()
      .regex(link, { error: 'must be the name of a link, at most 15 characters, or *' })
      .optional()
      .describe('The name of the link. *: all links of the node that lead to no pod.'),
    expectedIPs: z
      .array(address.overwrite((text) => formatAddress(parseAddress(text))))
      .max(256)
      .default([])
      .describe('Its addresses: rules that select it as a peer match these.'),
    profiles: z.array(z.string().min(1).max(253)).max(64).default([]).describe('Profiles, in their order.'),
    ports: unsupported('ports of host endpoints have no names here; write their numbers in the rules'),
  })
  .refine(({ interfaceName, expectedIPs }) => interfaceName !== undefined || expectedIPs.length > 0, {
    error: 'must have interfaceName or expectedIPs',
  });

const schema = z.strictObject({
  ...typeFields('projectcalico.org/v3', 'HostEndpoint'),
  metadata: clusterMetadata(),
  spec: spec.describe('Which interface of which node it is.'),
});

export type CalicoHostEndpoint = z.output<typeof schema>;

export const calicoHostEndpointKind = defineKind<CalicoHostEndpoint>({
  apiVersion: 'projectcalico.org/v3',
  kind: 'HostEndpoint',
  plural: 'hostendpoints',
  shortNames: ['heps'],
  namespaced: false,
  summary: 'An interface of a node that global policies apply to.',
  schema,
  columns: [
    { title: 'NODE', show: ({ spec: { node } }) => node },
    { title: 'INTERFACE', show: ({ spec: { interfaceName } }) => interfaceName ?? '-' },
    { title: 'ADDRESSES', show: ({ spec: { expectedIPs } }) => expectedIPs.join(',') },
  ],
});
