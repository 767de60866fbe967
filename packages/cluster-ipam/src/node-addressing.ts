import { type CacheChange, type Allocation, type Pool } from '@podwire/cluster-state';
import { formatAddress, parseAddress } from '@podwire/addresses';
import { describeError, PodwireError } from '@podwire/errors';
import { orAborted } from '@podwire/platform';
import { createBackground } from './background.js';
import { createBlockIndex } from './claims/block-index.js';
import { createSource } from './claims/source.js';
import { poolsOf, toSpec } from './claims/pools.js';
import type { AddressingStatus, NodeAddressing, NodeAddressingOptions, PodName } from './contract.js';
import type { Core } from './core.js';
import { Book, type Held } from './holdings/book.js';
import { adoptImportedEntry, adoptInUse } from './holdings/imported.js';
import { describeStrays } from './holdings/strays.js';
import { createMemory } from './holdings/memory.js';
import { syncAll, syncBlocks, syncLoans } from './holdings/sync.js';
import { isLeftBehind } from './loans/borrow.js';
import { provide } from './provide.js';
import { createReporting } from './reports/reporting.js';
import { Reports } from './reports/reports.js';
import { Trust } from './trust/trust.js';
import { completeTiming, createTurns, type Turns, within } from './waiting.js';
import { addressesFor, type Assignment } from './workloads/assign.js';
import { createWorkloadIndex } from './workloads/match.js';

/** Milliseconds that a node without anything of its own waits for the store's first word. */
const firstWord = 5_000;

export function createNodeAddressing(options: NodeAddressingOptions): NodeAddressing {
  const { node, cache, clock, log, fenceAfter } = options;
  const stopped = new AbortController();
  const listeners = new Set<() => void>();
  const topics = new Map<string, Turns>();
  const assignments: Assignment[] = [];
  let isSynced = false;
  let isStarted = false;
  /** Something of an earlier life is known. */
  let isResumed = false;

  const core: Core = {
    ...options,
    timing: completeTiming(options.timing, fenceAfter),
    book: new Book(),
    trust: new Trust(clock, fenceAfter),
    index: options.index ?? createBlockIndex(cache),
    ipams: new Map(),
    problems: new Map(),
    presence: undefined,
    pools: () => (isSynced ? poolValues() : memory.pools),
    claiming: new Map(),
    lending: new Map(),
    doubtful: new Set(),
    requests: new Set(),
    asking: new Set(),
    unwilling: new Map(),
    uncertainReports: new Map(),
    imported: new Map(),
    workloads: createWorkloadIndex({
      cache,
      keys: options.keys,
      onKeep: (network, address, workload) => core.ipams.get(network)?.keep(address, workload),
    }),
    turns(topic) {
      const turns = topics.get(topic) ?? createTurns();
      topics.set(topic, turns);
      return turns;
    },
    stopped: stopped.signal,
    changed,
    reportBooks(cidr) {
      reports.note(cidr);
      reporting.wake();
    },
    wake: () => background.wake(),
  };
  const { book, trust } = core;
  const memory = createMemory(core, options);
  const reports = new Reports(core);
  const background = createBackground(core, {
    isSynced: () => isSynced,
    assignments,
    repeatUncertainReports: () => reports.repeatUncertain(),
  });
  const reporting = createReporting(core, reports);

  let poolCache: ReadonlyMap<string, Pool> | undefined;
  function poolValues(): ReadonlyMap<string, Pool> {
    poolCache ??= new Map([...cache.pools].map(([name, { value }]) => [name, value]));
    return poolCache;
  }

  function changed(): void {
    if (isStarted) save();
    announce();
  }

  function save(): void {
    try {
      memory.save();
      core.problems.delete('file');
    } catch (err) {
      core.problems.set('file', describeError(err));
      throw err;
    }
  }

  function announce(): void {
    core.wake();
    for (const listener of [...listeners]) {
      try {
        listener();
      } catch (err) {
        log.error({ err }, 'a listener to the node’s addresses failed');
      }
    }
  }

  /** As {@link changed}, where nobody is there to hear of a failure. */
  function changedQuietly(): void {
    try {
      changed();
    } catch (err) {
      log.error({ err }, 'the node’s holdings could not be written down');
      announce();
    }
  }

  function takeChange(change: CacheChange): void {
    if (change.pools.size > 0) poolCache = undefined;
    core.index.take(change);
    core.workloads.take(change.workloads);
    if (!isStarted || !isSynced) return;
    const isOther = syncBlocks(core, change.blocks);
    for (const key of change.borrowRequests) takeRequest(key);
    if ([...change.borrowRequests].some((key) => isLeftBehind(core, key))) core.wake();
    if (isOther || change.pools.size > 0) changedQuietly();
    else if (core.requests.size > 0 || !cache.connected) core.wake();
  }

  function takeRequest(key: string): void {
    const request = cache.borrowRequests.get(key)?.value;
    const owner = request && cache.blocks.get(request.block)?.value.node;
    // Our own question to an owner whose block has become ours meanwhile needs no answer.
    const isForUs = request !== undefined && owner === node && request.node !== node;
    if (isForUs && request.refused === undefined) core.requests.add(key);
    else core.requests.delete(key);
  }

  const stopFollowing = cache.onChange(takeChange);
  cache.synced.then(takeFirst, () => undefined);

  function takeFirst(): void {
    if (isSynced) return;
    isSynced = true;
    poolCache = undefined;
    core.index.take({ pools: new Set(cache.pools.keys()), blocks: new Set(cache.blocks.keys()) });
    core.workloads.take(cache.workloads.keys());
    if (isStarted) joinCache();
  }

  /** The book becomes what the store says. */
  function joinCache(): void {
    syncAll(core);
    // No report says yet what ended while there was no agent, and one of an earlier life may still be on its way.
    for (const { lender, cidr } of book.all()) {
      core.reportBooks(lender ?? cidr);
      core.uncertainReports.set(lender ?? cidr, clock.elapsed());
    }
    for (const key of cache.borrowRequests.keys()) takeRequest(key);
    changedQuietly();
  }

  function noteUsed(entry: Allocation): void {
    const held = book.use(entry);
    core.imported.delete(entry.address);
    if (held === undefined) return;
    core.reportBooks(held.lender ?? held.cidr);
    // More than half of it is used: time to see whether there is another.
    if (held.used * 2 >= 2 ** (bitsOf(held) - held.prefix.length)) core.wake();
  }

  function noteFree(address: string): void {
    const parsed = parseAddress(address);
    if (book.entry(formatAddress(parsed)) === undefined) return;
    const held = book.free(address);
    // Of a block that was lost the books still say that it is in use here.
    const books = held === undefined ? core.index.around(parsed) : (held.lender ?? held.cidr);
    if (books !== undefined) core.reportBooks(books);
  }

  const isTrusted = (): void => {
    if (!isStarted) throw new PodwireError('AGENT_NOT_READY', 'the node does not know its blocks yet');
    // After a jump of the wall clock one question to the store is all that is missing, and no timer is due.
    if (trust.isFenced) core.wake();
    trust.require();
  };

  return {
    async start(inUse, signal) {
      // A cache that was full before we came has told nobody yet.
      await Promise.resolve();
      isResumed ||= !isStarted && memory.resume();
      for (const { address, owner, since = clock.now() } of inUse) {
        if (book.entry(address) === undefined) book.use({ address, owner, since });
        // IPAM must know before somebody asks for a loan, which may be in a moment.
        adoptInUse(core, owner, { address, owner, since });
      }
      for (const entry of core.imported.values()) {
        book.use(entry);
        adoptImportedEntry(core, entry);
      }
      if (!isSynced && !isResumed) await waitForStore(signal);
      isStarted = true;
      if (isSynced) joinCache();
      if (isSynced) await firstRound(signal);
      background.start();
      reporting.start();
    },
    pools: (network) => poolsOf(core, network).map((pool) => toSpec(core, pool)),
    attach(network, ipam) {
      core.ipams.set(network, ipam);
      for (const [address, workload] of core.workloads.kept(network)) ipam.keep(address, workload);
      for (const entry of core.imported.values()) adoptImportedEntry(core, entry);
      for (const { cidr } of book.blocks()) {
        const block = cache.blocks.get(cidr)?.value;
        if (block !== undefined) syncLoans(core, block);
      }
      core.wake();
    },
    source: (network) => createSource(core, network),
    async provide(need, signal) {
      isTrusted();
      await provide(core, need, signal);
    },
    requireUnfenced: isTrusted,
    hasWorkload: (network, pod) => core.workloads.of(network, pod) !== undefined,
    async addressesFor(network, pod, families, signal) {
      isTrusted();
      // An earlier pod of its name has ended, and that is not written yet: what was assigned to it is this one's.
      const isOver = assignments.findIndex(
        (each) => each.addresses === undefined && isOf(each, network, pod),
      );
      if (isOver >= 0) assignments.splice(isOver, 1);
      return addressesFor(core, network, pod, families, signal);
    },
    noteAssigned(network, pod, addresses) {
      assignments.push({ network, pod, addresses });
      core.wake();
    },
    noteUnassigned(network, pod) {
      if (core.workloads.of(network, pod) === undefined) return;
      assignments.push({ network, pod, addresses: undefined });
      core.wake();
    },
    noteUsed,
    noteFree,
    affinities: () => [...book.all()].filter(isHeld).map(({ cidr, state }) => ({ cidr, state })),
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    flush: (signal) => reporting.flush(signal),
    status: (): AddressingStatus => ({
      connected: cache.connected,
      confirmedAt: trust.confirmedAt,
      fenced: trust.isFenced,
      affinities: [...book.all()].map(({ cidr, state }) => ({ cidr, state })),
      unreported: reports.unreported,
      problems: [...core.problems.values(), ...describeStrays(core)],
    }),
    async stop() {
      stopped.abort(new PodwireError('AGENT_NOT_READY', 'the agent is stopping'));
      stopFollowing();
      await Promise.all([background.stop(), reporting.stop()]);
    },
  };

  /** @throws PodwireError AGENT_NOT_READY */
  async function waitForStore(signal: AbortSignal): Promise<void> {
    await within(clock, firstWord, signal, (either) => orAborted(cache.synced, either)).catch(
      () => undefined,
    );
    signal.throwIfAborted();
    if (isSynced) return;
    throw new PodwireError(
      'AGENT_NOT_READY',
      'the store does not answer, and nothing is known of an earlier life of this node',
    );
  }

  /** The node has a block before it is ready. What fails now is tried again in the background, if there is something to go on with. */
  async function firstRound(signal: AbortSignal): Promise<void> {
    try {
      await background.runOnce(signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!isResumed && trust.isFenced) {
        throw new PodwireError('AGENT_NOT_READY', `the store does not answer: ${describeError(error)}`, {
          cause: error,
        });
      }
      log.warn({ err: error }, 'the store could not be asked about this node’s blocks; it is tried again');
    }
  }
}

const isOf = (assignment: Assignment, network: string, { namespace, name }: PodName): boolean =>
  assignment.network === network && assignment.pod.namespace === namespace && assignment.pod.name === name;

/** What others must route here; what is being given back is not. */
const isHeld = ({ state }: Held): boolean => state !== 'pendingDeletion';

const bitsOf = ({ prefix }: Held): number => (prefix.family === 4 ? 32 : 128);
