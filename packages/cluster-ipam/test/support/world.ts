/** A cluster that things happen to, and what must hold whatever they are. */
import { containsPrefix, hostPrefix, overlaps, parseAddress, parsePrefix } from '@podwire/addresses';
import { unreachableKind, folders, poolKind, type Workload, workloadKind } from '@podwire/cluster-state';
import { releaseNode } from '@podwire/cluster-ipam/operations';
import { PodwireError } from '@podwire/errors';
import type { FaultPoints } from '@podwire/platform';
import { decodeObject, encodeObject, type Store, type Write } from '@podwire/store';
import type { MemoryFaults, MemoryStore } from '@podwire/store/memory';
import { unanswered, withTransact } from './between.js';
import { bind, never, retryBlindly } from './blind-retry.js';
import { LateWrites } from './late.js';
import { keys, newDisk, poolDefaults, TestCluster, type AddRequest } from './cluster.js';
import {
  type Bug,
  fenceAfter,
  type Intent,
  latency,
  layouts,
  leaseTtl,
  type Machine,
  names,
  slowly,
  vanishAfter,
  workload,
  type WorldOptions,
} from './world-settings.js';

export { type Bug, type Intent, layouts, names } from './world-settings.js';

export class World {
  readonly cluster = new TestCluster();
  readonly machines: readonly Machine[];
  readonly #bug: Bug | undefined;
  readonly #options: Required<Omit<WorldOptions, 'bug'>>;
  readonly #controller: MemoryStore;
  readonly #releases = new Set<Promise<void>>();
  readonly #running = new Set<Promise<void>>();
  /** `NODE OWNER` of pods that run on nodes that were given up: their addresses are others'. */
  readonly #forfeited = new Set<string>();
  readonly #late = new LateWrites(this.cluster.clock, this.cluster.admin);
  /** Nodes that have lost their file, by a reboot or otherwise: they do not know which of their reports are uncertain. */
  readonly #forgetful = new Set<string>();
  /** Pods of the workload, by owner. */
  readonly #podNames = new Map<string, string>();
  #failure: Error | undefined;
  #pods = 0;

  constructor(options: WorldOptions = {}) {
    this.#options = { layouts, capacity: 68, ...options };
    this.#bug = options.bug;
    this.#controller = this.cluster.server.connect({ latency: () => slowly });
    this.machines = names.map((name) => ({
      name,
      disk: newDisk(),
      node: undefined,
      faults: [],
      seen: 0,
      old: undefined,
      running: new Set(),
      hanging: 0,
      deadly: undefined,
    }));
  }

  async begin(): Promise<void> {
    await this.setLayout(0);
    for (const machine of this.machines) await this.startAgent(machine, 'kept');
  }

  machine(name: string): Machine {
    return this.machines.find((machine) => machine.name === name)!;
  }

  /** Other pools, all at once. */
  async setLayout(at: number): Promise<void> {
    const pools = this.#options.layouts[at]!.map((pool) => ({ ...poolDefaults, ...pool }));
    const { items } = await this.cluster.admin.list(keys.pool(''));
    const wanted = new Set(pools.map(({ name }) => keys.pool(name)));
    const writes: Write[] = [
      ...items.filter(({ key }) => !wanted.has(key)).map(({ key }): Write => ({ op: 'delete', key })),
      ...pools.map((pool): Write => ({
        op: 'put',
        key: keys.pool(pool.name),
        value: encodeObject(poolKind, pool),
      })),
    ];
    await this.cluster.admin.transact({ conditions: [], writes });
  }

  #isReachable({ node }: Machine): boolean {
    return node !== undefined && !node.isCut;
  }

  async startAgent(
    machine: Machine,
    file: 'kept' | 'lost' | 'old' | 'kept, and the store away',
  ): Promise<void> {
    if (machine.node !== undefined) return;
    if (file === 'lost' || file === 'old') this.#forgetful.add(machine.name);
    if (file === 'lost') machine.disk.file = undefined;
    if (file === 'old' && machine.old !== undefined) machine.disk.file = machine.old;
    const { clock } = this.cluster;
    const faults: MemoryFaults = {
      decide: () => machine.faults.shift(),
      latency: () => latency,
      timeout: 20,
      pause: 5,
    };
    const hang = withTransact((transaction, options, store) => {
      if (machine.hanging === 0 || transaction.writes.length === 0)
        return store.transact(transaction, options);
      machine.hanging--;
      this.#late.add(transaction);
      return unanswered(options);
    });
    const wrap = (store: Store): Store =>
      hang(this.#bug === 'blind retry' ? retryBlindly(store, clock) : store);
    const isAway = file === 'kept, and the store away';
    const settings = { fenceAfter, wrap, isAway, coolDown: 2_000, faults: this.#faultPoints(machine) };
    const node = this.cluster.create(machine.name, machine.disk, settings, faults);
    machine.node = node;
    machine.faults.length = 0;
    machine.hanging = 0;
    try {
      if (!isAway) await this.cluster.during(node.register(), 5);
      await clock.advance(50);
      await this.cluster.during(node.start(), 20);
    } catch (error) {
      if (!(error instanceof PodwireError)) throw error;
      await this.stopAgent(machine);
    }
  }

  #faultPoints(machine: Machine): FaultPoints {
    return {
      reach(point) {
        const { node, deadly } = machine;
        if (node?.isKilled === true) throw new Error('the agent was killed');
        if (deadly?.point !== point || deadly.skip-- > 0) return;
        machine.deadly = undefined;
        node?.kill();
        throw new Error(`the agent was killed at ${point}`);
      },
    };
  }

  /** Agents that died at a fault point are over; what they had begun stays as it was then. */
  async stopKilledAgents(): Promise<void> {
    for (const machine of this.machines) if (machine.node?.isKilled === true) await this.stopAgent(machine);
  }

  /** `kill -9` of all agents while no agent can reach the store; they start again at once. */
  async restartAllWithoutStore(): Promise<void> {
    for (const { node } of this.machines) node?.kill();
    await this.stopKilledAgents();
    for (const machine of this.machines) await this.startAgent(machine, 'kept, and the store away');
  }

  async stopAgent(machine: Machine): Promise<void> {
    const { node } = machine;
    if (node === undefined) return;
    machine.node = undefined;
    for (const call of machine.running) call.abort(new Error('the agent stops'));
    this.cluster.nodes.delete(machine.name);
    await this.cluster.during(node.stop(), 5);
  }

  /** Power off. Its pods and its memory are gone. */
  async crash(machine: Machine): Promise<void> {
    await this.stopAgent(machine);
    this.#forgetful.add(machine.name);
    for (const owner of machine.disk.records.keys()) this.#forfeited.delete(`${machine.name} ${owner}`);
    machine.disk = newDisk();
    machine.old = undefined;
  }

  /** A write that no caller waits for any more is done, if it still can be. */
  arrive(at: number): Promise<void> {
    return this.#late.arrive(at);
  }

  /** Other settings for the pods of the workload; undefined: it is deleted. */
  async setWorkload(intent: Intent | undefined): Promise<void> {
    const key = keys.workload(workload.network, workload.namespace, workload.name);
    if (intent === undefined) {
      await this.cluster.admin.delete(key);
      return;
    }
    const item = await this.cluster.admin.get(key);
    const assigned = item === undefined ? {} : decodeObject(workloadKind, key, item.value).assigned;
    const value: Workload = { ...workload, addresses: [], pools: [], sticky: false, assigned, ...intent };
    await this.cluster.admin.put(key, encodeObject(workloadKind, value));
  }

  /** As {@link add}, of a pod of the workload. Others may have its name. */
  addPod(machine: Machine, pod: string): void {
    this.#begin(machine, { pod: { namespace: workload.namespace, name: pod } });
  }

  /** Begins an ADD; it goes on while other things happen. */
  add(machine: Machine, requested?: string): void {
    this.#begin(machine, requested === undefined ? {} : { requested: [requested] });
  }

  #begin({ name, node, running }: Machine, request: AddRequest): void {
    if (node === undefined) return;
    const owner = `p${++this.#pods}`;
    if (request.pod !== undefined) this.#podNames.set(owner, request.pod.name);
    const call = new AbortController();
    running.add(call);
    const done = node
      .add(owner, request, call.signal)
      .then(([address]) => this.#requireOwned(name, address!))
      .catch((error: unknown) => this.#refuse(error, call, node.isKilled))
      .finally(() => {
        running.delete(call);
        this.#running.delete(done);
      });
    this.#running.add(done);
  }

  /** To be refused is fine; anything else is not. */
  #refuse(error: unknown, { signal }: AbortController, isKilled: boolean): void {
    if (
      error instanceof PodwireError ||
      signal.aborted ||
      isKilled ||
      (error instanceof Error && error.name === 'TimeoutError')
    )
      return;
    this.#failure ??= error instanceof Error ? error : new Error(String(error));
  }

  /** An address that a node allocates is its own in the store, also while the node is cut off. */
  async #requireOwned(name: string, address: string): Promise<void> {
    const around = hostPrefix(parseAddress(address));
    const blocks = await this.cluster.blocks();
    const block = blocks.find(({ cidr }) => containsPrefix(parsePrefix(cidr), around));
    const loan = block?.loans.find((each) => each.address === address);
    if (loan === undefined ? block?.node === name : loan.node === name) return;
    const owner = loan === undefined ? block?.node : `${loan.node} (borrowed)`;
    this.#failure ??= new Error(`${name} handed out ${address}, which is of node ${owner ?? '(none)'}`);
  }

  remove({ name, node, disk }: Machine, at: number): void {
    const owner = [...disk.records.keys()][at % Math.max(1, disk.records.size)];
    if (node === undefined || owner === undefined) return;
    this.#forfeited.delete(`${name} ${owner}`);
    const pod = this.#podNames.get(owner);
    node.remove(owner, pod === undefined ? undefined : { namespace: workload.namespace, name: pod });
  }

  /** Time passes; nodeLeases of nodes that say nothing end. */
  async advance(milliseconds: number): Promise<void> {
    for (let left = milliseconds; left > 0; left -= 5_000) {
      await this.cluster.clock.advance(Math.min(left, 5_000));
      await this.stopKilledAgents();
      await this.#keepPresences();
    }
  }

  async #keepPresences(): Promise<void> {
    const { admin, clock } = this.cluster;
    for (const machine of this.machines) {
      if (this.#isReachable(machine)) {
        machine.seen = clock.elapsed();
        // As the agent does, until it is there.
        if ((await admin.get(keys.nodeLease(machine.name))) === undefined)
          void machine.node!.register().catch(() => 0);
      }
      if (clock.elapsed() - machine.seen <= leaseTtl) continue;
      const { name, disk } = machine;
      if (!(await admin.delete(keys.nodeLease(name)))) continue;
      const absence = encodeObject(unreachableKind, {
        node: name,
        instance: disk.instance,
        since: clock.now(),
      });
      await admin.put(keys.unreachable(name), absence);
    }
  }

  /** The controller looks who has vanished, and begins to give back what they had. That takes its time. */
  async beginRelease(): Promise<void> {
    const { admin, clock } = this.cluster;
    const { items } = await admin.list(keys.unreachable(''));
    for (const { key, value: text, revision } of items) {
      const value = decodeObject(unreachableKind, key, text);
      if (clock.now() - value.since < vanishAfter) continue;
      const store = this.#controllerStore(value.node);
      const release = releaseNode(
        { store, keys, clock },
        value.node,
        { unreachable: { key, value, revision } },
        never,
      )
        .then(() => undefined)
        .catch((error: unknown) => {
          if (!(error instanceof PodwireError)) this.#failure ??= error as Error;
        })
        .finally(() => this.#releases.delete(release));
      this.#releases.add(release);
    }
  }

  /** Notes what the pods of the node lose, when it is done. */
  #controllerStore(node: string): Store {
    const forgetPresence = (key: string): boolean =>
      this.#bug === 'no look at the presence' && [keys.nodeLease(node), keys.unreachable(node)].includes(key);
    return {
      ...bind(this.#controller),
      transact: async ({ conditions, writes }, options) => {
        const kept = conditions.filter(({ key }) => !forgetPresence(key));
        const before = [...this.machine(node).disk.records.keys()];
        const isGone =
          this.#bug === undefined || (await this.cluster.admin.get(keys.nodeLease(node))) === undefined;
        const outcome = await this.#controller.transact({ conditions: kept, writes }, options);
        if (outcome.committed && isGone) for (const owner of before) this.#forfeited.add(`${node} ${owner}`);
        return outcome;
      },
    };
  }

  /** @throws what is wrong */
  async check(): Promise<void> {
    await this.cluster.clock.settle();
    if (this.#failure !== undefined) throw this.#failure;
    this.#requireUnique();
    await this.#requireApart();
  }

  #requireUnique(): void {
    const holders = new Map<string, string>();
    for (const { name, disk } of this.machines) {
      for (const [owner, leases] of disk.records) {
        const holder = `${name} ${owner}`;
        if (this.#forfeited.has(holder)) continue;
        for (const { address } of leases) {
          const other = holders.get(address);
          if (other !== undefined) throw new Error(`${address} is held by ${other} and by ${holder}`);
          holders.set(address, holder);
        }
      }
    }
  }

  async #requireApart(): Promise<void> {
    const prefixes = (await this.cluster.blocks()).map(({ cidr }) => parsePrefix(cidr));
    prefixes.forEach((one, at) => {
      const other = prefixes.slice(at + 1).find((each) => overlaps(one, each));
      if (other !== undefined) throw new Error('two blocks overlap');
    });
  }

  /**
   * All agents come back, all pods end, all nodes leave for good: then no node owns anything, and a new node can have it all.
   * @throws what is wrong
   */
  async end(): Promise<void> {
    for (const machine of this.machines) machine.deadly = undefined;
    await this.setLayout(0);
    await this.stopKilledAgents();
    for (const machine of this.machines) await this.#heal(machine);
    await this.#late.arriveAll();
    await this.advance(60_000);
    await this.check();
    for (const machine of this.machines) await this.#empty(machine);
    await this.advance(300_000);
    await this.check();
    this.#requireHealth();
    await this.#requireNoRecordsLeft();
    await this.setWorkload(undefined);
    for (const machine of this.machines) await this.stopAgent(machine);
    await this.advance(2 * vanishAfter);
    await this.beginRelease();
    await this.advance(60_000);
    await this.#requireNothingLeft();
    await this.#requireAllOf(this.#options.capacity);
  }

  async #heal(machine: Machine): Promise<void> {
    machine.faults.length = 0;
    machine.hanging = 0;
    machine.disk.isFull = false;
    if (machine.node !== undefined) await this.cluster.during(machine.node.restore(), 5);
    await this.startAgent(machine, 'kept');
    if (machine.node === undefined) throw new Error(`${machine.name} does not start`);
    machine.seen = this.cluster.clock.elapsed();
  }

  async #empty(machine: Machine): Promise<void> {
    for (const call of machine.running) call.abort(new Error('over'));
    await this.cluster.during(Promise.all(this.#running), 20);
    while (machine.disk.records.size > 0) this.remove(machine, 0);
  }

  #requireHealth(): void {
    for (const { name, node } of this.machines) {
      const { fenced, problems, affinities, unreported } = node!.addressing.status();
      const isWell = !fenced && problems.length === 0 && unreported === 0 && affinities.length <= 2;
      if (!isWell) throw new Error(`${name} is not well: ${JSON.stringify(node!.addressing.status())}`);
      const unknown = node!.ipam.foreignLeases().length + node!.ipam.borrowed().length;
      if (unknown > 0)
        throw new Error(`${name} knows of ${unknown} leases or borrowed addresses that are not`);
    }
  }

  async #requireNoRecordsLeft(): Promise<void> {
    const { items: records } = await this.cluster.admin.list(`${keys.root}/${folders.allocationRecords}`);
    const { items: requests } = await this.cluster.admin.list(`${keys.root}/${folders.borrowRequests}`);
    // A report of before that arrives late, about a block that the node has no more: only people know that it is over.
    const unexplained = records.filter(({ key }) => !this.#forgetful.has(key.split('/').at(-1)!));
    const left = [...unexplained, ...requests].map(({ key }) => key);
    if (left.length > 0) throw new Error(`records and requests of no pod: ${left.join(', ')}`);
  }

  async #requireNothingLeft(): Promise<void> {
    const { items } = await this.cluster.admin.list('/test/');
    const left = items.map(({ key }) => key).filter((key) => !key.startsWith(keys.pool('')));
    if (left.length > 0) throw new Error(`left in the store: ${left.join(', ')}`);
  }

  async #requireAllOf(count: number): Promise<void> {
    const node = await this.cluster.join('new');
    for (let n = 0; n < count; n++) await this.cluster.during(node.add(`new ${n}`), 20);
  }

  async close(): Promise<void> {
    for (const machine of this.machines) await this.stopAgent(machine);
    await this.cluster.close();
    await this.#controller.close();
    await this.cluster.clock.advance(20_000);
  }
}
