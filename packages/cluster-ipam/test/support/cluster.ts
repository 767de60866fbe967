/** Nodes on one store in memory: each with its own client, cache, addressing and IPAM, and a way to be cut off or to die. */
import {
  type Block,
  blockKind,
  type ClusterCache,
  completePool,
  keysBelow,
  openClusterCache,
  type Pool,
  poolKind,
  nodeLeaseKind,
} from '@podwire/cluster-state';
import {
  createNodeAddressing,
  type SavedState,
  type NodeAddressing,
  type NodeAddressingOptions,
  type PodName,
} from '@podwire/cluster-ipam';
import { PodwireError } from '@podwire/errors';
import { createIpam, type Ipam, type Lease } from '@podwire/ipam';
import { type FaultPoints, noFaults, silentLog } from '@podwire/platform';
import { createTestClock, type TestClock } from '@podwire/platform/testing';
import { decodeObject, encodeObject, type Store } from '@podwire/store';
import {
  createMemoryServer,
  type MemoryFaults,
  type MemoryServer,
  type MemoryStore,
} from '@podwire/store/memory';

export const keys = keysBelow('/test');
export const network = 'pods';

export const poolDefaults: Pool = completePool({
  name: 'blue',
  network,
  cidr: '10.0.0.0/24',
  blockSize: 28,
  encapsulation: 'direct',
});

export interface NodeSettings {
  readonly labels?: Record<string, string>;
  readonly fenceAfter?: number;
  /** Puts something between the node and its client. */
  readonly wrap?: (store: Store) => Store;
  readonly coolDown?: number;
  readonly faults?: FaultPoints;
  /** It starts while it cannot reach the store: not even its first look is answered. */
  readonly isAway?: boolean;
}

/** Request of an ADD. */
export interface AddRequest {
  readonly requested?: string[];
  readonly pools?: string[];
  readonly pod?: PodName;
}

/** State of a node that outlives its agent. */
export interface Disk {
  instance: string;
  file: SavedState | undefined;
  /** Owners of leases, as endpoint records say. */
  records: Map<string, readonly Lease[]>;
  /** The saved state cannot be written. */
  isFull?: boolean;
}

let instances = 0;
export const newDisk = (): Disk => ({ instance: `i${++instances}`, file: undefined, records: new Map() });

export class TestNode {
  readonly name: string;
  readonly disk: Disk;
  readonly client: MemoryStore;
  readonly cache: ClusterCache;
  readonly addressing: NodeAddressing;
  readonly ipam: Ipam;
  readonly #clock: TestClock;
  isCut = false;
  #isKilled = false;

  constructor(
    name: string,
    disk: Disk,
    server: MemoryServer,
    clock: TestClock,
    settings: NodeSettings,
    faults: MemoryFaults,
  ) {
    this.name = name;
    this.disk = disk;
    this.#clock = clock;
    this.client = server.connect(faults);
    if (settings.isAway === true) this.cut();
    const store = settings.wrap?.(this.client) ?? this.client;
    this.cache = openClusterCache({ store, keys, log: silentLog });
    let random = 0;
    const options: NodeAddressingOptions = {
      node: name,
      instance: disk.instance,
      labels: settings.labels ?? {},
      store,
      keys,
      cache: this.cache,
      savedState: {
        read: () => disk.file,
        write: (file) => {
          if (this.#isKilled) return;
          if (disk.isFull === true) throw new PodwireError('RECORD_IO', 'no space left');
          disk.file = structuredClone(file);
        },
      },
      clock,
      random: (bytes) => Uint8Array.from({ length: bytes }, () => (random = (random * 31 + 7) % 251)),
      faults: settings.faults ?? noFaults,
      log: silentLog,
      fenceAfter: settings.fenceAfter ?? 900_000,
      reportEvery: 500,
    };
    this.addressing = createNodeAddressing(options);
    const blockSource = this.addressing.source(network);
    this.ipam = createIpam({
      pools: [],
      clock: () => clock.now(),
      coolDown: settings.coolDown ?? 0,
      blockSource,
    });
    this.addressing.attach(network, this.ipam);
    this.addressing.onChange(() => this.follow());
  }

  /** As the agent does. */
  async register(): Promise<void> {
    const { name, disk } = this;
    const value = encodeObject(nodeLeaseKind, {
      node: name,
      instance: disk.instance,
      since: this.#clock.now(),
    });
    await this.client.transact({
      conditions: [],
      writes: [
        { op: 'put', key: keys.nodeLease(name), value },
        { op: 'delete', key: keys.unreachable(name) },
      ],
    });
  }

  async start(): Promise<void> {
    const inUse = [...this.disk.records].flatMap(([owner, leases]) =>
      leases.map(({ address }) => ({ address, owner })),
    );
    await this.addressing.start(inUse, AbortSignal.timeout(60_000));
    this.follow();
    for (const [owner, leases] of this.disk.records) {
      for (const lease of leases) {
        this.ipam.adopt(lease);
        this.addressing.noteUsed({ address: lease.address, owner, since: lease.since });
      }
    }
  }

  /** Work of the agent when its block affinities or pools have changed. */
  follow(): void {
    this.ipam.setPools(this.addressing.pools(network));
  }

  get blocks(): string[] {
    return this.addressing
      .affinities()
      .map(({ cidr }) => cidr)
      .sort();
  }

  /** An ADD. */
  async add(
    owner: string,
    request: AddRequest = {},
    signal: AbortSignal = new AbortController().signal,
  ): Promise<string[]> {
    const { pod, ...rest } = request;
    const families = [4] as const;
    const fixed = pod && (await this.addressing.addressesFor(network, pod, families, signal));
    const asked = { families, ...rest, ...fixed };
    for (let attempt = 1; ; attempt++) {
      this.addressing.requireUnfenced();
      try {
        const leases = this.ipam.allocate({ owner, ...asked });
        if (this.#isKilled) throw new Error('the agent was killed');
        this.disk.records.set(owner, leases);
        for (const { address, since } of leases) this.addressing.noteUsed({ address, owner, since });
        if (pod !== undefined)
          this.addressing.noteAssigned(
            network,
            pod,
            leases.map(({ address }) => address),
          );
        return leases.map(({ address }) => address);
      } catch (error) {
        const isElsewhere =
          error instanceof PodwireError && ['POOL_EXHAUSTED', 'ADDRESS_IN_USE'].includes(error.code);
        if (!isElsewhere || attempt === 5 || error.details['owner'] !== undefined) throw error;
      }
      await this.addressing.provide({ network, ...asked }, signal);
    }
  }

  /** A DEL. */
  remove(owner: string, pod?: PodName): void {
    if (this.#isKilled) return;
    this.ipam.release(owner);
    for (const { address } of this.disk.records.get(owner) ?? []) this.addressing.noteFree(address);
    this.disk.records.delete(owner);
    if (pod !== undefined) this.addressing.noteUnassigned(network, pod);
  }

  get isKilled(): boolean {
    return this.#isKilled;
  }

  /** `kill -9`: from now on nothing that it does leaves it, to the disk or to the store. */
  kill(): void {
    this.#isKilled = true;
    this.cut();
  }

  cut(): void {
    this.isCut = true;
    this.client.cut();
  }

  async restore(): Promise<void> {
    if (this.#isKilled) return;
    this.isCut = false;
    this.client.restore();
    await this.register().catch(() => undefined);
  }

  /** Its agent ends; its pods and its disk do not. */
  async stop(): Promise<void> {
    await this.addressing.stop();
    await this.cache.close();
    await this.client.close();
  }
}

export class TestCluster {
  readonly clock = createTestClock();
  readonly server: MemoryServer;
  readonly admin: MemoryStore;
  readonly nodes = new Map<string, TestNode>();
  readonly settings: NodeSettings;

  constructor(settings: NodeSettings = {}) {
    this.settings = settings;
    this.server = createMemoryServer({ clock: this.clock });
    this.admin = this.server.connect();
  }

  async putPool(pool: Partial<Pool> = {}): Promise<void> {
    const value = { ...poolDefaults, ...pool };
    await this.admin.put(keys.pool(value.name), encodeObject(poolKind, value));
    await this.clock.settle();
  }

  create(name: string, disk: Disk, settings: NodeSettings = {}, faults: MemoryFaults = {}): TestNode {
    const node = new TestNode(name, disk, this.server, this.clock, { ...this.settings, ...settings }, faults);
    this.nodes.set(name, node);
    return node;
  }

  /** A node that is ready. */
  async join(
    name: string,
    settings: NodeSettings = {},
    disk = newDisk(),
    faults: MemoryFaults = {},
  ): Promise<TestNode> {
    const node = this.create(name, disk, settings, faults);
    await node.register();
    await this.clock.settle();
    await node.start();
    await this.clock.settle();
    return node;
  }

  async block(cidr: string): Promise<Block | undefined> {
    const item = await this.admin.get(keys.block(cidr));
    return item && decodeObject(blockKind, item.key, item.value);
  }

  async blocks(): Promise<Block[]> {
    const { items } = await this.admin.list(keys.block(''));
    return items.map((item) => decodeObject(blockKind, item.key, item.value));
  }

  /** Waits for a promise while time passes. */
  async during<T>(promise: Promise<T>, step = 100, most = 600): Promise<T> {
    const watched = promise.then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    );
    let outcome: { value: T } | { error: unknown } | undefined;
    void watched.then((result) => (outcome = result));
    for (let n = 0; n < most && outcome === undefined; n++) await this.clock.advance(step);
    if (outcome === undefined) throw new Error('it takes too long');
    if ('error' in outcome) throw outcome.error;
    return outcome.value;
  }

  async close(): Promise<void> {
    await Promise.all([...this.nodes.values()].map((node) => node.stop()));
    await this.admin.close();
  }
}
