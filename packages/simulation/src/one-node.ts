/** Measures the cost of a large cluster on one node. */
import { type Block, blockKind, keysBelow, openClusterCache } from '@podwire/cluster-state';
import { BlockIndex } from '@podwire/cluster-ipam';
import type { NodeView, PeerView } from '@podwire/network-contract';
import { createRoutedModel } from '@podwire/network-routed';
import { silentLog } from '@podwire/platform';
import { encodeObject } from '@podwire/store';
import { createMemoryServer } from '@podwire/store/memory';

export interface FollowingFigures {
  readonly blocks: number;
  /** Milliseconds from an empty cache to all blocks in it. */
  readonly first: number;
  /** Microseconds for one block that changes later. */
  readonly each: number;
  /** Bytes of the objects' text. */
  readonly bytes: number;
}

/** A cache that follows so many blocks, with the index that claims choose from. */
export async function measureFollowing(blocks: number): Promise<FollowingFigures> {
  const server = createMemoryServer();
  const store = server.connect();
  const keys = keysBelow('/podwire');
  let bytes = 0;
  const write = async (number: number, node: string): Promise<number> => {
    const block = describeBlock(number, node);
    const text = encodeObject(blockKind, block);
    bytes += text.length;
    return store.put(keys.block(block.cidr), text);
  };
  for (let number = 0; number < blocks; number++) await write(number, `node-${number >> 1}`);
  const total = bytes;
  const begin = performance.now();
  const cache = openClusterCache({ store: server.connect(), keys, log: silentLog });
  const index = new BlockIndex(cache);
  cache.onChange((change) => index.take(change));
  await cache.synced;
  const first = performance.now() - begin;
  const rounds = 1_000;
  const before = performance.now();
  let last = 0;
  for (let round = 0; round < rounds; round++) last = await write(round, 'another');
  await cache.reached(last, AbortSignal.timeout(60_000));
  const each = ((performance.now() - before) * 1_000) / rounds;
  await cache.close();
  await store.close();
  return { blocks, first, each, bytes: total };
}

export interface PeerFigures {
  readonly peers: number;
  /** Microseconds of planning for one peer. */
  readonly each: number;
  readonly resources: number;
}

/** Plans the routes to so many peers, with two blocks each. */
export function measurePeers(peers: number): PeerFigures {
  const model = createRoutedModel();
  const views = Array.from({ length: peers }, (_, number) => describePeer(number));
  let resources = 0;
  const begin = performance.now();
  for (const peer of views) resources += model.planPeer(self, peer).length;
  return { peers, each: ((performance.now() - begin) * 1_000) / peers, resources };
}

const self: NodeView = {
  name: 'self',
  network: {
    name: 'default',
    model: 'routed',
    pools: [{ name: 'all', cidr: '10.0.0.0/8', natOutgoing: true, encapsulation: 'vxlan' }],
  },
  blocks: ['10.255.0.0/26'],
  mtu: 1450,
  ipv4: true,
  ipv6: false,
  underlay: { link: 'eth0', mtu: 1500, ipv4: '172.31.255.1/12' },
  tunnel: { mac: '66:00:00:00:00:01', ipv4: '10.255.0.1' },
};

function describePeer(number: number): PeerView {
  const mac = `66:01:${[24, 16, 8, 0].map((shift) => ((number >> shift) & 255).toString(16).padStart(2, '0')).join(':')}`;
  const first = blockAddress(number * 2);
  return {
    name: `node-${number}`,
    ipv4: `172.16.${number >> 8}.${number & 255}/12`,
    tunnel: { mac, ipv4: first },
    blocks: [`${first}/26`, `${blockAddress(number * 2 + 1)}/26`],
  };
}

const blockAddress = (number: number): string =>
  `10.${(number >> 10) & 255}.${(number >> 2) & 255}.${(number & 3) * 64}`;

const describeBlock = (number: number, node: string): Block => ({
  cidr: `${blockAddress(number)}/26`,
  node,
  instance: 'i',
  state: 'confirmed',
  claimedAt: 0,
  loans: [],
});
