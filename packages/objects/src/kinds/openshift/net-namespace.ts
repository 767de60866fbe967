import { z } from 'zod';
import { defineKind } from '../define-kind.js';
import { clusterMetadata, typeFields } from '../shared/metadata.js';
import { networkAnnotations, parseNetworkChange } from './annotations.js';
import { address, showList } from './text.js';
import { globalVnid, highestVnid } from './vnid.js';

const { changeNetwork, multicastEnabled } = networkAnnotations;

const fields = z.strictObject({
  ...typeFields('network.openshift.io/v1', 'NetNamespace'),
  metadata: clusterMetadata(
    undefined,
    `${changeNetwork}: global, isolate or join:NAMESPACE, a change of netid that is wanted. ${multicastEnabled}: "true" lets its pods use multicast.`,
  ),
  netname: z.string().max(253).describe('The name of the namespace; the same as that of the object.'),
  netid: z
    .int()
    .min(globalVnid)
    .max(highestVnid)
    .describe('Its VNID. 0: its pods reach all others. Namespaces with the same one are joined.'),
  egressIPs: z
    .array(address)
    .max(1024)
    .default([])
    .describe('Addresses that its pods have outside of the cluster. Absent: those of their nodes.'),
});

type Problem = readonly [path: readonly string[], message: string];

function* findProblems({ metadata, netname }: z.output<typeof fields>): Generator<Problem> {
  const { name, annotations = {} } = metadata;
  if (netname !== name) yield [['netname'], `must be metadata.name, ${name}`];
  const change = annotations[changeNetwork];
  if (change !== undefined && parseNetworkChange(change) === undefined)
    yield [['metadata', 'annotations', changeNetwork], 'must be global, isolate or join:NAMESPACE'];
}

const schema = fields.superRefine((read, context) => {
  for (const [path, message] of findProblems(read))
    context.addIssue({ code: 'custom', path: [...path], message });
});

export type NetNamespace = z.output<typeof schema>;

export const netNamespaceKind = defineKind<NetNamespace>({
  apiVersion: 'network.openshift.io/v1',
  kind: 'NetNamespace',
  plural: 'netnamespaces',
  shortNames: [],
  namespaced: false,
  summary: 'The VNID of a namespace in OpenShift SDN, and its egress addresses.',
  schema,
  columns: [
    { title: 'NETID', show: ({ netid }) => `${netid}` },
    { title: 'EGRESS IPS', show: ({ egressIPs }) => showList(egressIPs) },
  ],
});
