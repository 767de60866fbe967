import { z } from 'zod';
import { defineKind } from '../define-kind.js';
import { clusterMetadata, typeFields } from '../shared/metadata.js';
import { networkAnnotations } from './annotations.js';
import { address, podPrefix, prefix, showList } from './text.js';
import { highestVnid, isVnid } from './vnid.js';

const { assignSubnet, fixedVnidHost, nodeUid } = networkAnnotations;

const fields = z.strictObject({
  ...typeFields('network.openshift.io/v1', 'HostSubnet'),
  metadata: clusterMetadata(
    undefined,
    `${assignSubnet}: a subnet is wanted for what is no node. ${fixedVnidHost}: the VNID of what is sent there. ${nodeUid}: the node that it was made for.`,
  ),
  host: z.string().max(253).describe('The name of the node; the same as that of the object.'),
  hostIP: address.describe('The address of the node that other nodes send VXLAN to.'),
  subnet: z
    .union([z.literal(''), podPrefix])
    .default('')
    .describe(`The addresses of its pods. Absent only with the annotation ${assignSubnet}.`),
  egressIPs: z
    .array(address)
    .max(4096)
    .default([])
    .describe('Egress addresses that the node has now. With egressCIDRs they are assigned by the cluster.'),
  egressCIDRs: z
    .array(prefix)
    .max(1024)
    .default([])
    .describe('Prefixes from which egress addresses are assigned to the node.'),
});

type Problem = readonly [path: readonly string[], message: string];

function* findProblems({ metadata, host, subnet }: z.output<typeof fields>): Generator<Problem> {
  const { name, annotations = {} } = metadata;
  if (host !== name) yield [['host'], `must be metadata.name, ${name}`];
  if (subnet === '' && annotations[assignSubnet] === undefined)
    yield [['subnet'], `is missing; the annotation ${assignSubnet} asks for one`];
  const fixed = annotations[fixedVnidHost];
  if (fixed !== undefined && !(/^\d{1,8}$/.test(fixed) && isVnid(Number(fixed))))
    yield [['metadata', 'annotations', fixedVnidHost], `must be a VNID, from 0 to ${highestVnid}`];
}

const schema = fields.superRefine((read, context) => {
  for (const [path, message] of findProblems(read))
    context.addIssue({ code: 'custom', path: [...path], message });
});

export type HostSubnet = z.output<typeof schema>;

export const hostSubnetKind = defineKind<HostSubnet>({
  apiVersion: 'network.openshift.io/v1',
  kind: 'HostSubnet',
  plural: 'hostsubnets',
  shortNames: [],
  namespaced: false,
  summary:
    'The addresses that the pods of a node have in OpenShift SDN, and the egress addresses of the node.',
  schema,
  columns: [
    { title: 'HOST', show: ({ host }) => host },
    { title: 'HOST IP', show: ({ hostIP }) => hostIP },
    { title: 'SUBNET', show: ({ subnet }) => subnet },
    { title: 'EGRESS CIDRS', show: ({ egressCIDRs }) => showList(egressCIDRs) },
    { title: 'EGRESS IPS', show: ({ egressIPs }) => showList(egressIPs) },
  ],
});
