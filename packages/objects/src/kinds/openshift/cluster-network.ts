import { formatPrefix, overlaps, type Prefix } from '@podwire/addresses';
import { z } from 'zod';
import { defineKind } from '../define-kind.js';
import { clusterMetadata, typeFields } from '../shared/metadata.js';
import { portNumber } from '../shared/text.js';
import { podPrefix, prefix, toPrefix } from './text.js';

/** With 1 bit a node would have its gateway and the address of the network, and none for pods. */
const hostSubnetLength = z.int().min(2).max(30);

const entry = z.strictObject({
  CIDR: podPrefix.describe('The prefix that the subnets of nodes are cut from.'),
  hostSubnetLength: hostSubnetLength.describe(
    'Bits of an address that number the pods of a node: with 9 each node has a /23.',
  ),
});

const pluginNames = [
  'redhat/openshift-ovs-subnet',
  'redhat/openshift-ovs-multitenant',
  'redhat/openshift-ovs-networkpolicy',
] as const;

const fields = z.strictObject({
  ...typeFields('network.openshift.io/v1', 'ClusterNetwork'),
  metadata: clusterMetadata(),
  network: podPrefix
    .optional()
    .describe('CIDR of the first entry of clusterNetworks, as older versions have it.'),
  hostsubnetlength: hostSubnetLength
    .optional()
    .describe('hostSubnetLength of the first entry of clusterNetworks, as older versions have it.'),
  serviceNetwork: prefix.describe('The prefix that services have their addresses from.'),
  pluginName: z
    .enum(pluginNames)
    .default('redhat/openshift-ovs-networkpolicy')
    .describe('Isolation: none, by VNIDs of namespaces, or by NetworkPolicy.'),
  clusterNetworks: z
    .array(entry)
    .max(64)
    .default([])
    .describe('Prefixes of pods. Absent: one, made of network and hostsubnetlength.'),
  vxlanPort: portNumber.default(4789).describe('UDP port of VXLAN.'),
  mtu: z.int().min(576).max(65_536).default(1450).describe('MTU of pods: 50 less than that between nodes.'),
});

type Fields = z.output<typeof fields>;
type Path = readonly (string | number)[];
type Problem = readonly [path: Path, message: string];

/** Both forms say the same, or one of them is absent. */
function* findLegacyProblems({
  network,
  hostsubnetlength,
  clusterNetworks: [first],
}: Fields): Generator<Problem> {
  if (first === undefined) {
    if (network === undefined) yield [['clusterNetworks'], 'is missing'];
    else if (hostsubnetlength === undefined) yield [['hostsubnetlength'], 'is missing beside `network`'];
    return;
  }
  if (network !== undefined && network !== first.CIDR)
    yield [['network'], `must be the CIDR of clusterNetworks[0], ${first.CIDR}`];
  if (hostsubnetlength !== undefined && hostsubnetlength !== first.hostSubnetLength)
    yield [['hostsubnetlength'], `must be that of clusterNetworks[0], ${first.hostSubnetLength}`];
}

interface Range {
  readonly prefix: Prefix;
  readonly hostBits: number;
  readonly cidrAt: Path;
  readonly lengthAt: Path;
}

const toRange = (cidr: string, hostBits: number, cidrAt: Path, lengthAt: Path): Range[] => {
  const read = toPrefix(cidr);
  return read === undefined ? [] : [{ prefix: read, hostBits, cidrAt, lengthAt }];
};

function rangesOf({ clusterNetworks, network, hostsubnetlength }: Fields): Range[] {
  if (clusterNetworks.length === 0)
    return network === undefined || hostsubnetlength === undefined
      ? []
      : toRange(network, hostsubnetlength, ['network'], ['hostsubnetlength']);
  return clusterNetworks.flatMap(({ CIDR, hostSubnetLength: bits }, index) => {
    const at = ['clusterNetworks', index];
    return toRange(CIDR, bits, [...at, 'CIDR'], [...at, 'hostSubnetLength']);
  });
}

function* findRangeProblems(read: Fields): Generator<Problem> {
  const ranges = rangesOf(read);
  const services = toPrefix(read.serviceNetwork);
  for (const [index, { prefix: own, hostBits, cidrAt, lengthAt }] of ranges.entries()) {
    const cidr = formatPrefix(own);
    if (hostBits > 32 - own.length)
      yield [lengthAt, `must be at most ${32 - own.length}, which is all that ${cidr} has; is ${hostBits}`];
    const other = ranges.slice(0, index).find((earlier) => overlaps(earlier.prefix, own));
    if (other !== undefined) yield [cidrAt, `overlaps ${formatPrefix(other.prefix)}`];
    if (services !== undefined && overlaps(services, own))
      yield [['serviceNetwork'], `overlaps ${cidr}, which pods have their addresses from`];
  }
}

/** Programs of old read `network`, newer ones `clusterNetworks`: the object has both. */
function fillForms({ network, hostsubnetlength, clusterNetworks, ...rest }: Fields) {
  const [first = { CIDR: network ?? '', hostSubnetLength: hostsubnetlength ?? 0 }, ...more] = clusterNetworks;
  return {
    ...rest,
    network: first.CIDR,
    hostsubnetlength: first.hostSubnetLength,
    clusterNetworks: [first, ...more],
  };
}

const schema = fields
  .superRefine((read, context) => {
    for (const [path, message] of [...findLegacyProblems(read), ...findRangeProblems(read)])
      context.addIssue({ code: 'custom', path: [...path], message });
  })
  .transform(fillForms);

export type ClusterNetwork = z.output<typeof schema>;

export const clusterNetworkKind = defineKind<ClusterNetwork>({
  apiVersion: 'network.openshift.io/v1',
  kind: 'ClusterNetwork',
  plural: 'clusternetworks',
  shortNames: [],
  namespaced: false,
  summary: 'The prefixes of pods and services of OpenShift SDN. The one that counts is named default.',
  schema,
  columns: [
    { title: 'CLUSTER NETWORK', show: ({ network }) => network },
    { title: 'SERVICE NETWORK', show: ({ serviceNetwork }) => serviceNetwork },
    { title: 'PLUGIN NAME', show: ({ pluginName }) => pluginName },
  ],
});
