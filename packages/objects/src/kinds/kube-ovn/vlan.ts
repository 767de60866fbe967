import { z } from 'zod';
import { defineKind } from '../define-kind.js';
import { clusterMetadata, typeFields } from '../shared/metadata.js';
import { statusNames } from './conditions.js';
import { apiVersion } from './text.js';
import { networkName } from './provider-network.js';

const spec = z.strictObject({
  id: z.int().min(0).max(4095).default(0).describe('The tag of its frames (IEEE 802.1Q). 0: none.'),
  provider: networkName.describe('The ProviderNetwork whose interfaces its frames pass.'),
});

const status = z.strictObject({
  subnets: statusNames.describe('Subnets that lie in it.'),
});

const schema = z.strictObject({
  ...typeFields(apiVersion, 'Vlan'),
  metadata: clusterMetadata(),
  spec: spec.describe('Its number and where it is.'),
  status: status.optional().describe('What the controller has found. Not taken from files.'),
});

export type Vlan = z.output<typeof schema>;

export const vlanKind = defineKind<Vlan>({
  apiVersion,
  kind: 'Vlan',
  plural: 'vlans',
  shortNames: [],
  namespaced: false,
  summary: 'A VLAN of a ProviderNetwork, for subnets that lie in a network outside of the cluster.',
  schema,
  columns: [
    { title: 'ID', show: ({ spec: { id } }) => `${id}` },
    { title: 'PROVIDER', show: ({ spec: { provider } }) => provider },
  ],
  needs: { ProviderNetwork: ({ spec: { provider } }) => provider },
});
