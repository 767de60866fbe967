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
import { type Endpoint, type EndpointId, endpointKey, type NodeView } from '@podwire/network-contract';
import { createRoutedModel } from '@podwire/network-routed';
import { type Clock, noFaults, silentLog } from '@podwire/platform';
import { encodeObject, type Store } from '@podwire/store';
import type { Chance } from './chance.js';
import type { SharedCache } from './shared-cache.js';
import type { Tally } from './tally.js';

export const network = 'default';

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

export class SimulatedNode {
  readonly #parts: NodeParts;
  readonly #instance: string;
  readonly #object: Node;
  readonly #addressing: NodeAddressing;
  readonly #life = new AbortController();
  #ipam: Ipam | undefined;

  constructor(parts: NodeParts) {
    const { name, store, keys, shared, index, clock, chance } = parts;
    this.#parts = parts;
    this.#instance = `i-${name}`;
    this.#object = describeNode(parts, this.#instance);
    let file: SavedState | undefined;
    this.#addressing = createNodeAddressing({
      ...{ node: name, instance: this.#instance, labels: {} },
      ...{ store, keys, cache: shared.of(name), index, clock },
      savedState: { read: () => file, write: (next) => void (file = next) },
      random: (bytes) => chance.bytes(bytes),
      faults: noFaults,
      log: silentLog,
      fenceAfter: day,
      reportEvery: 1_000,
    });
    setMaxListeners(0, this.signal);
  }

  get name(): string {
    return this.#parts.name;
  }

  /** Aborts when the node stops. One for each node: adding a listener costs as much as there are listeners. */
  get signal(): AbortSignal {
    return this.#life.signal;
  }

  get view(): NodeView {
    const { addresses, tunnel } = this.#object;
    return {
      name: this.name,
      network: { name: network, model: 'routed', pools: viewPools(this.#addressing, network) },
      blocks: this.#ipam?.blocks() ?? [],
      ...{ mtu: 1450, ipv4: true, ipv6: false },
      underlay: { link: 'eth0', mtu: 1500, ipv4: addresses.ipv4! },
      tunnel: { mac: tunnel!.mac, ipv4: tunnel!.ipv4! },
    };
  }

  async start(): Promise<void> {
    const { clock } = this.#parts;
    await register(this.#parts, this.#instance, this.#object, this.signal);
    const ipam = createIpam({
      pools: this.#addressing.pools(network),
      coolDown: 60_000,
      clock: () => clock.now(),
      blockSource: this.#addressing.source(network),
    });
    this.#ipam = ipam;
    this.#addressing.attach(network, ipam);
    this.#addressing.onChange(() => ipam.setPools(this.#addressing.pools(network)));
    await untilStarted(this.#addressing, clock, this.signal);
    ipam.setPools(this.#addressing.pools(network));
  }

  /** An ADD as far as it is address and plan. */
  async add(pod: number): Promise<readonly Lease[]> {
    const { clock, tally } = this.#parts;
    const begin = clock.elapsed();
    const leases = await untilAllocated(
      () => this.#allocate(pod),
      this.#addressing,
      this.#parts,
      this.signal,
    );
    tally.waits.push(clock.elapsed() - begin);
    this.#plan(pod, leases);
    for (const { address, owner, since } of leases) this.#addressing.noteUsed({ address, owner, since });
    return leases;
  }

  /** Returns the addresses that are free. */
  remove(pod: number): string[] {
    const addresses = this.#ipam!.release(endpointKey(this.#idOf(pod))).map(({ address }) => address);
    for (const address of addresses) this.#addressing.noteFree(address);
    return addresses;
  }

  flush(): Promise<void> {
    return this.#addressing.flush(this.signal);
  }

  stop(): Promise<void> {
    this.#life.abort(new Error('the node stops'));
    return this.#addressing.stop();
  }

  #allocate(pod: number): Lease[] {
    const { tally } = this.#parts;
    const begin = performance.now();
    const leases = this.#ipam!.allocate({ owner: endpointKey(this.#idOf(pod)), families: [4] });
    tally.allocations += leases.length;
    tally.allocating += performance.now() - begin;
    return leases;
  }

  #plan(pod: number, leases: readonly Lease[]): void {
    const { tally } = this.#parts;
    const begin = performance.now();
    const planned = model.planEndpoint(describeEndpoint(this.#idOf(pod), pod, leases), this.view);
    tally.planned += planned.resources.length;
    tally.planning += performance.now() - begin;
  }

  #idOf(pod: number): EndpointId {
    return { network, containerId: `${this.name}-${pod}`, ifName: 'eth0' };
  }
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
