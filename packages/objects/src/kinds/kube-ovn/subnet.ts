import { z } from 'zod';
import { defineKind } from '../define-kind.js';
import { clusterMetadata, typeFields } from '../shared/metadata.js';
import { formatRange } from './address-ranges.js';
import { formatGatewayNode, parseGatewayNodes } from './gateway-nodes.js';
import { type SubnetFields, subnetSpec, subnetStatus } from './subnet-fields.js';
import { excludedRanges, findSubnetProblems, gatewaysOf, protocolOf } from './subnet-problems.js';
import {
  addProblems,
  apiVersion,
  formatAddresses,
  formatPrefixes,
  readBlock,
  showList,
  showValue,
  subnetRule,
} from './text.js';

/** Only of fields that can be read. Upstream fills in the same, apart from ranges that touch: these become one. */
function fillSpec(spec: SubnetFields) {
  const prefixes = readBlock(spec.cidrBlock)?.prefixes ?? [];
  const gateways = gatewaysOf(spec, prefixes);
  return {
    ...spec,
    protocol: protocolOf(prefixes),
    cidrBlock: formatPrefixes(prefixes),
    gateway: formatAddresses(gateways),
    excludeIps: excludedRanges(spec, gateways).map(formatRange),
    gatewayNode: parseGatewayNodes(spec.gatewayNode).map(formatGatewayNode).join(),
  };
}

const schema = z.strictObject({
  ...typeFields(apiVersion, 'Subnet'),
  metadata: clusterMetadata(subnetRule),
  spec: subnetSpec
    .superRefine((read, context) => addProblems(findSubnetProblems(read), context))
    .transform(fillSpec)
    .describe('Its addresses, and how packets leave it.'),
  status: subnetStatus.optional().describe('What the controller has found. Not taken from files.'),
});

export type Subnet = z.output<typeof schema>;

export const subnetKind = defineKind<Subnet>({
  apiVersion,
  kind: 'Subnet',
  plural: 'subnets',
  shortNames: [],
  namespaced: false,
  summary: 'Addresses of pods: those of the namespaces that it names.',
  schema,
  columns: [
    { title: 'PROVIDER', show: ({ spec }) => spec.provider },
    { title: 'VPC', show: ({ spec }) => spec.vpc },
    { title: 'VLAN', show: ({ spec }) => spec.vlan },
    { title: 'PROTOCOL', show: ({ spec }) => spec.protocol },
    { title: 'CIDR', show: ({ spec }) => spec.cidrBlock },
    { title: 'PRIVATE', show: ({ spec }) => showValue(spec.private) },
    { title: 'NAT', show: ({ spec }) => showValue(spec.natOutgoing) },
    { title: 'DEFAULT', show: ({ spec }) => showValue(spec.default) },
    { title: 'GATEWAYTYPE', show: ({ spec }) => spec.gatewayType },
    { title: 'V4USED', show: ({ status }) => showValue(status?.v4usingIPs) },
    { title: 'V4AVAILABLE', show: ({ status }) => showValue(status?.v4availableIPs) },
    { title: 'V6USED', show: ({ status }) => showValue(status?.v6usingIPs) },
    { title: 'V6AVAILABLE', show: ({ status }) => showValue(status?.v6availableIPs) },
    { title: 'EXCLUDEIPS', show: ({ spec }) => showList(spec.excludeIps) },
  ],
  needs: { Vpc: ({ spec: { vpc } }) => vpc, Vlan: ({ spec: { vlan } }) => vlan },
});
