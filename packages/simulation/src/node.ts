/** One simulated node: the real addressing and the real IPAM, a planner, and no kernel. */
import { setMaxListeners } from 'node:events';
import { type Keys, type Node, nodeKind, nodeLeaseKind } from '@podwire/cluster-state';
import {
  type BlockIndex,
  createNodeAddressing,
  type SavedState,
  type NodeAddressing,
} from '@podwire/cluster-ipam';
import { PodwireError } from '@podwire/errors';
import { createIpam, type Ipam, type Lease } from '@podwire/ipam';
import {
  type Endpoint,
  type EndpointId,
  endpointKey,
  type NodeView,
  type TunnelView,
} from '@podwire/network-contract';
import { createRoutedModel } from '@podwire/network-routed';
import { type Clock, noFaults, silentLog } from '@podwire/platform';
import { encodeObject, type Store } from '@podwire/store';
import type { Chance } from './chance.js';
import type { SharedCache } from './shared-cache.js';
import type { Tally } from './tally.js';

export const network = 'default';

export interface SimulatedNode {
  readonly name: string;
  readonly view: NodeView;
  /** Aborts when the node stops. One for each node: adding a listener costs as much as there are listeners. */
  readonly signal: AbortSignal;
  start(): Promise<void>;
  /** An ADD as far as it is address and plan. */
  add(pod: number): Promise<readonly Lease[]>;
  /** Returns the addresses that are free. */
  remove(pod: number): string[];
  flush(): Promise<void>;
  stop(): Promise<void>;
}

export interface NodeParts {
  readonly name: string;
  readonly number: number;
  readonly store: Store;
  readonly keys: Keys;
  readonly shared: SharedCache;
  readonly index: BlockIndex;
  readonly clock: Clock;
  readonly chance: Chance;
  readonly tally: Tally;
}

const model = createRoutedModel();
const day = 86_400_000;

export function createSimulatedNode(parts: NodeParts): SimulatedNode {
  const { name, store, keys, shared, index, clock, chance, tally } = parts;
  const instance = `i-${name}`;
  let file: SavedState | undefined;
  const addressing: NodeAddressing = createNodeAddressing({
    node: name,
    instance,
    labels: {},
    store,
    keys,
    cache: shared.of(name),
    index,
    savedState: { read: () => file, write: (next) => void (file = next) },
    clock,
    random: (bytes) => chance.bytes(bytes),
    faults: noFaults,
    log: silentLog,
    fenceAfter: day,
    reportEvery: 1_000,
  });
  let ipam: Ipam | undefined;
  const life = new AbortController();
  const { signal } = life;
  setMaxListeners(0, signal);
  const object = describeNode(parts, instance);
  const tunnel: TunnelView = { mac: object.tunnel!.mac, ipv4: object.tunnel!.ipv4! };
  const idOf = (pod: number): EndpointId => ({ network, containerId: `${name}-${pod}`, ifName: 'eth0' });

  const view = (): NodeView => ({
    name,
    network: { name: network, model: 'routed', pools: viewPools(addressing, network) },
    blocks: ipam?.blocks() ?? [],
    mtu: 1450,
    ipv4: true,
    ipv6: false,
    underlay: { link: 'eth0', mtu: 1500, ipv4: object.addresses.ipv4! },
    tunnel,
  });

  function allocate(pod: number): Lease[] {
    const begin = performance.now();
    const leases = ipam!.allocate({ owner: endpointKey(idOf(pod)), families: [4] });
    tally.allocations += leases.length;
    tally.allocating += performance.now() - begin;
    return leases;
  }

  function plan(pod: number, leases: readonly Lease[]): void {
    const begin = performance.now();
    const planned = model.planEndpoint(describeEndpoint(idOf(pod), pod, leases), view());
    tally.planned += planned.resources.length;
    tally.planning += performance.now() - begin;
  }

  return {
    name,
    get view() {
      return view();
    },
    signal,
    async start() {
      await register(parts, instance, object, signal);
      ipam = createIpam({
        pools: addressing.pools(network),
        coolDown: 60_000,
        clock: () => clock.now(),
        blockSource: addressing.source(network),
      });
      addressing.attach(network, ipam);
      addressing.onChange(() => ipam!.setPools(addressing.pools(network)));
      await untilStarted(addressing, clock, signal);
      ipam.setPools(addressing.pools(network));
    },
    async add(pod) {
      const begin = clock.elapsed();
      const leases = await untilAllocated(() => allocate(pod), addressing, parts, signal);
      tally.waits.push(clock.elapsed() - begin);
      plan(pod, leases);
      for (const { address, owner, since } of leases) addressing.noteUsed({ address, owner, since });
      return leases;
    },
    remove(pod) {
      const addresses = ipam!.release(endpointKey(idOf(pod))).map(({ address }) => address);
      for (const address of addresses) addressing.noteFree(address);
      return addresses;
    },
    flush: () => addressing.flush(signal),
    stop() {
      life.abort(new Error('the node stops'));
      return addressing.stop();
    },
  };
}

/** A node that cannot join yet tries again, as the agent does. */
async function untilStarted(addressing: NodeAddressing, clock: Clock, signal: AbortSignal): Promise<void> {
  for (;;) {
    try {
      await addressing.start([], signal);
      return;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof PodwireError)) throw error;
      await clock.sleep(1_000, signal);
    }
  }
}

/** As the agent does: in memory, and through the store only when that fails. */
async function untilAllocated(
  allocate: () => Lease[],
  addressing: NodeAddressing,
  { clock, tally }: Pick<NodeParts, 'clock' | 'tally'>,
  signal: AbortSignal,
): Promise<Lease[]> {
  for (;;) {
    try {
      addressing.requireUnfenced();
      return allocate();
    } catch (error) {
      if (!(error instanceof PodwireError)) throw error;
      if (error.code !== 'POOL_EXHAUSTED') {
        await clock.sleep(1_000, signal);
        continue;
      }
    }
    tally.slowPaths++;
    await provide(addressing, clock, signal);
  }
}

/** A runtime comes again when the store did not answer, but not when there is no address. */
async function provide(addressing: NodeAddressing, clock: Clock, signal: AbortSignal): Promise<void> {
  try {
    await addressing.provide({ network, families: [4] }, signal);
  } catch (error) {
    if (!(error instanceof PodwireError) || error.code === 'POOL_EXHAUSTED') throw error;
    await clock.sleep(1_000, signal);
  }
}

async function register(
  { name, store, keys, clock }: NodeParts,
  instance: string,
  object: Node,
  signal: AbortSignal,
): Promise<void> {
  const presence = encodeObject(nodeLeaseKind, { node: name, instance, since: clock.now() });
  for (;;) {
    try {
      await store.transact(
        {
          conditions: [],
          writes: [
            { op: 'put', key: keys.nodeLease(name), value: presence },
            { op: 'put', key: keys.node(name), value: encodeObject(nodeKind, object) },
          ],
        },
        { signal },
      );
      return;
    } catch {
      await clock.sleep(200, signal);
    }
  }
}

function describeNode({ name, number, clock }: NodeParts, instance: string): Node {
  const bytes = [number >> 16, (number >> 8) & 255, number & 255];
  const mac = `66:00:00:${bytes.map((byte) => byte.toString(16).padStart(2, '0')).join(':')}`;
  return {
    name,
    instance,
    version: '0.1.0',
    labels: {},
    addresses: { ipv4: `172.${16 + bytes[0]!}.${bytes[1]}.${bytes[2]}/12` },
    mtu: 1500,
    tunnel: { mac, ipv4: `100.${64 + bytes[0]!}.${bytes[1]}.${bytes[2]}` },
    registeredAt: clock.now(),
  };
}

const describeEndpoint = (id: EndpointId, pod: number, leases: readonly Lease[]): Endpoint => ({
  id,
  pod: { namespace: 'default', name: `pod-${pod}` },
  leases: leases.map(({ address, pool }) => ({ address, pool })),
  mac: '02:00:00:00:00:01',
  portMappings: [],
});

const viewPools = (addressing: NodeAddressing, of: string): NodeView['network']['pools'] =>
  addressing.pools(of).map(({ name, cidr }) => ({ name, cidr, natOutgoing: true, encapsulation: 'vxlan' }));
