import type { ModelScopes, NetworkView } from '@podwire/network-contract';
import type { Read } from '@podwire/planner';
import { flowResources } from '../flow-resources.js';
import { planMulticastToPeers } from '../pipeline/multicast.js';
import { peersOf } from '../view.js';

export const MODEL = 'sdn';

/** A node has one bridge, and so one list of those that multicast is copied to. */
const ID = 'peers';

/** The flow that copies multicast to all other nodes depends on all of them: it is a scope of its own. */
export const multicastScopes: ModelScopes = {
  kind: 'sdn-multicast',
  list: (read) => (findNetwork(read) === undefined ? [] : [ID]),
  plan(_, read) {
    const network = findNetwork(read);
    return network === undefined ? [] : flowResources([planMulticastToPeers(listPeers(network, read))]);
  },
};

const findNetwork = (read: Read): NetworkView | undefined =>
  read('sides-for-peers').find(({ model }) => model.name === MODEL)?.view.network;

const listPeers = (network: NetworkView, read: Read): ReturnType<typeof peersOf> =>
  [...read('peers')].flatMap((name) => {
    const peer = read(`peer/${name}`);
    // Multicast takes the way to the node, whatever subnet it has.
    return peer === undefined ? [] : peersOf(peer, network).slice(0, 1);
  });
