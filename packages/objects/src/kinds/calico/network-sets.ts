import { z } from 'zod';
import { defineKind } from '../define-kind.js';
import { clusterMetadata, namespacedMetadata, typeFields } from '../shared/metadata.js';
import { net } from '../shared/text.js';
import { unsupported } from './text.js';

const spec = z.strictObject({
  nets: z.array(net).max(100_000).default([]).describe('Prefixes or addresses.'),
  allowedEgressDomains: unsupported('nothing here resolves domain names'),
});

const networkSet = z.strictObject({
  ...typeFields('projectcalico.org/v3', 'NetworkSet'),
  metadata: namespacedMetadata(),
  spec: spec.prefault({}).describe('Its addresses.'),
});

const globalNetworkSet = z.strictObject({
  ...typeFields('projectcalico.org/v3', 'GlobalNetworkSet'),
  metadata: clusterMetadata(),
  spec: spec.prefault({}).describe('Its addresses.'),
});

export type CalicoNetworkSet = z.output<typeof networkSet>;
export type CalicoGlobalNetworkSet = z.output<typeof globalNetworkSet>;

const columns = [
  {
    title: 'NETS',
    show: ({ spec: { nets } }: CalicoNetworkSet | CalicoGlobalNetworkSet) => `${nets.length}`,
  },
];

export const calicoNetworkSetKind = defineKind<CalicoNetworkSet>({
  apiVersion: 'projectcalico.org/v3',
  kind: 'NetworkSet',
  plural: 'networksets',
  shortNames: ['netsets'],
  namespaced: true,
  summary: 'Addresses with labels, which the selectors of rules match as they match pods of the namespace.',
  schema: networkSet,
  columns,
});

export const calicoGlobalNetworkSetKind = defineKind<CalicoGlobalNetworkSet>({
  apiVersion: 'projectcalico.org/v3',
  kind: 'GlobalNetworkSet',
  plural: 'globalnetworksets',
  shortNames: [],
  namespaced: false,
  summary: 'Addresses with labels, which the selectors of rules match; it lies in no namespace.',
  schema: globalNetworkSet,
  columns,
});
