import type { NetworkModel } from '@podwire/network-contract';
import { packetFilter } from '@podwire/network-traffic';
import { assigned, resolve } from './endpoint/attachment.js';
import { planEndpoint } from './endpoint/plan-endpoint.js';
import { podMtu } from './mtu.js';
import { MODEL, NODE_LINK } from './names.js';
import { mirrorScopes } from './node/mirror.js';
import { publishProviders } from './node/provider-facts.js';
import { refusedScopes } from './node/provider-claims.js';
import { providerScopes } from './node/provider.js';
import { gatewayScopes } from './node/scopes.js';
import { objects } from './objects.js';
import { optionsSchema, settings } from './options.js';

/** The OVN model: logical switches and routers that a controller makes, and ovn-controller on each node. */
export const createOvnModel = (): NetworkModel => ({
  name: MODEL,
  description: 'logical switches and routers of OVN, with static addresses and VPCs, as Kube-OVN does it.',
  encapsulations: [],
  hostTables: [packetFilter],
  policy: 'none',
  forwardingLinks: [NODE_LINK],
  optionsSchema,
  planNode: () => [],
  planPeer: () => [],
  resolve,
  assigned,
  planEndpoint,
  podMtu,
  diagnose: () => [],
  settings,
  scopes: [gatewayScopes, mirrorScopes, providerScopes, refusedScopes],
  objects,
  bridges: [],
  publish: (_, now) => publishProviders(now),
});
