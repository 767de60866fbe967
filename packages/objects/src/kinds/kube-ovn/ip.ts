import { z } from 'zod';
import { defineKind } from '../define-kind.js';
import { clusterMetadata, typeFields } from '../shared/metadata.js';
import {
  addProblems,
  addresses,
  apiVersion,
  formatAddresses,
  mac,
  namespaceName,
  objectName,
  optionalName,
  type Problem,
  readAddresses,
  subnetName,
} from './text.js';

/** A pod has one for each interface beside its first. */
const attached = <T extends z.ZodType<string>>(element: T) => z.array(element).max(256).default([]);

const oneAddress = z.union([z.literal(''), addresses]).default('');

const spec = z.strictObject({
  podName: objectName.describe('The pod, or the node.'),
  namespace: z
    .union([z.literal(''), namespaceName])
    .default('')
    .describe('That of the pod. Empty: it is a node.'),
  subnet: subnetName.describe('The subnet that the addresses are of.'),
  nodeName: optionalName.describe('The node that the pod is on.'),
  ipAddress: oneAddress.describe('Its addresses, IPv4 first. Absent: v4IpAddress and v6IpAddress.'),
  v4IpAddress: oneAddress.describe('Its address of IPv4. Absent: that of ipAddress.'),
  v6IpAddress: oneAddress.describe('Its address of IPv6. Absent: that of ipAddress.'),
  macAddress: mac.describe('The MAC address of its interface.'),
  containerID: z.string().max(128).default('').describe('The sandbox of the pod.'),
  attachIps: attached(addresses).describe('Addresses of its other interfaces.'),
  attachMacs: attached(mac).describe('MAC addresses of its other interfaces.'),
  attachSubnets: attached(subnetName).describe('Subnets of its other interfaces.'),
});

type Spec = z.output<typeof spec>;

const familyWords = { v4IpAddress: 'IPv4', v6IpAddress: 'IPv6' } as const;

const addressOf = (text: string, family: 4 | 6): string =>
  formatAddresses((readAddresses(text) ?? []).filter((each) => each.family === family));

function* findAddressProblems(read: Spec): Generator<Problem> {
  const { ipAddress, v4IpAddress, v6IpAddress } = read;
  if (ipAddress + v4IpAddress + v6IpAddress === '') yield [['ipAddress'], 'is missing'];
  for (const field of ['v4IpAddress', 'v6IpAddress'] as const) {
    const own = read[field];
    if (own === '') continue;
    const family = field === 'v4IpAddress' ? 4 : 6;
    if (addressOf(own, family) !== own) yield [[field], `must be one address of ${familyWords[field]}`];
    else if (ipAddress !== '' && addressOf(ipAddress, family) !== own)
      yield [[field], `must be the address of ${familyWords[field]} in ipAddress, ${ipAddress}`];
  }
}

function* findAttachedProblems({ attachIps, attachMacs, attachSubnets }: Spec): Generator<Problem> {
  const lists = { attachMacs, attachSubnets };
  for (const [field, list] of Object.entries(lists))
    if (list.length !== attachIps.length)
      yield [[field], `must have as many entries as attachIps, ${attachIps.length}; has ${list.length}`];
}

/** All three forms of the addresses, as upstream writes them. */
function fillAddresses({ ipAddress, v4IpAddress, v6IpAddress, ...rest }: Spec) {
  const all = ipAddress === '' ? [v4IpAddress, v6IpAddress].filter((each) => each !== '').join() : ipAddress;
  return { ...rest, ipAddress: all, v4IpAddress: addressOf(all, 4), v6IpAddress: addressOf(all, 6) };
}

/** An IP has the name of its port in OVN. */
function* findNameProblems(name: string, { podName, namespace }: Spec): Generator<Problem> {
  const own = namespace === '' ? `node-${podName}` : `${podName}.${namespace}`;
  if (name === own || (namespace !== '' && name.startsWith(`${own}.`))) return;
  const others = namespace === '' ? '' : ` or ${own}.PROVIDER`;
  yield [['metadata', 'name'], `must be ${own}${others}, from podName and namespace`];
}

const schema = z
  .strictObject({
    ...typeFields(apiVersion, 'IP'),
    metadata: clusterMetadata(),
    spec: spec
      .superRefine((read, context) =>
        addProblems([...findAddressProblems(read), ...findAttachedProblems(read)], context),
      )
      .transform(fillAddresses)
      .describe('The addresses of a pod or a node, and where they are.'),
  })
  .superRefine(({ metadata, spec: read }, context) =>
    addProblems(findNameProblems(metadata.name, read), context),
  );

export type IP = z.output<typeof schema>;

export const ipKind = defineKind<IP>({
  apiVersion,
  kind: 'IP',
  plural: 'ips',
  shortNames: [],
  namespaced: false,
  summary: 'The addresses that a pod or a node has in a subnet. Made by the controller.',
  schema,
  columns: [
    { title: 'V4IP', show: ({ spec: { v4IpAddress } }) => v4IpAddress },
    { title: 'V6IP', show: ({ spec: { v6IpAddress } }) => v6IpAddress },
    { title: 'MAC', show: ({ spec: { macAddress } }) => macAddress },
    { title: 'NODE', show: ({ spec: { nodeName } }) => nodeName },
    { title: 'SUBNET', show: ({ spec: { subnet } }) => subnet },
  ],
  needs: { Subnet: ({ spec: { subnet } }) => subnet },
});
