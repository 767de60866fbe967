import type { NetworkModel } from '@podwire/network-contract';
import { packetFilter } from '@podwire/network-traffic';
import { reaches, resolve } from './endpoint/attachment.js';
import { planEndpoint } from './endpoint/plan-endpoint.js';
import { podMtu } from './mtu.js';
import { diagnose, publish } from './node/diagnose.js';
import { BRIDGE, ENCAPSULATION, HOST_LINK, MACVLAN_LINK } from './names.js';
import { MODEL, multicastScopes } from './node/multicast.js';
import { planNode } from './node/plan-node.js';
import { planPeer } from './node/plan-peer.js';
import { subnets } from './node/subnets.js';
import { objects } from './objects.js';
import { optionsOf, optionsSchema, settings } from './options.js';

/** The SDN model: one bridge of Open vSwitch a node, VXLAN between nodes, a VNID for each project. */
export const createSdnModel = (): NetworkModel => ({
  name: MODEL,
  description:
    'a bridge of Open vSwitch, VXLAN between nodes and a VNID for each project, as OpenShift SDN does it.',
  encapsulations: [ENCAPSULATION],
  hostTables: [packetFilter],
  policy: 'none',
  forwardingLinks: [HOST_LINK],
  optionsSchema,
  planNode,
  planPeer,
  resolve,
  reaches,
  looksFor: [MACVLAN_LINK],
  planEndpoint,
  podMtu,
  diagnose,
  settings,
  serviceNetwork: (network) => optionsOf(network).serviceNetwork,
  publish,
  scopes: [multicastScopes],
  objects,
  subnets,
  bridges: [BRIDGE],
});
