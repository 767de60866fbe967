/**
 * The node in the store: its presence, which goes with a lease, and its object, which stays. All of it in the background; what
 * others wait for is only the outcome.
 */
import { type Keys, type Node, nodeKind, nodeLeaseKind } from '@podwire/cluster-state';
import { PodwireError } from '@podwire/errors';
import { type Clock, type FaultPoints, type Log, withDeadline } from '@podwire/platform';
import {
  decodeObject,
  encodeObject,
  type Item,
  keepLease,
  type KeptLease,
  type Revision,
  type Store,
  type Write,
} from '@podwire/store';
import { refuseOtherAgent, refuseOtherMachine } from './node-name.js';

export type Standing =
  /** It was not tried yet. */
  | { readonly kind: 'joining' }
  | { readonly kind: 'registered'; readonly since: number }
  /** Another agent of this name is alive. */
  | { readonly kind: 'taken'; readonly error: PodwireError }
  /** The store does not answer, or not as it should. */
  | { readonly kind: 'away'; readonly error: unknown };

export interface RegistrationOptions {
  readonly node: string;
  readonly instance: string;
  /** Which machine it is; see {@link refuseOtherMachine}. */
  readonly machine?: string;
  readonly store: Store;
  readonly keys: Keys;
  readonly clock: Clock;
  readonly log: Log;
  readonly faults: FaultPoints;
  /** Milliseconds that the presence outlives the last sign of life. */
  readonly ttl: number;
  /** Milliseconds; the node object says so, see {@link nodeKind}. */
  readonly vanishAfter: number;
  /** Of a node that is new, for its first object; undefined: when it is published. */
  readonly describe: () => Node | undefined;
  /** Our own write, for the cache of the cluster. */
  readonly noteWritten: (key: string, node: Node, revision: Revision) => void;
}

export interface Registration {
  start(): void;
  readonly standing: Standing;
  /** Resolves with the first outcome that is known. */
  readonly settled: Promise<void>;
  /** Called whenever the standing has changed. Returns how to stop. */
  onChange(listener: (standing: Standing) => void): () => void;
  /** What others shall know of the node from now on; written as soon as it is registered. */
  publish(node: Node): void;
  /** Takes the presence back and leaves the node object: its pods go on working, and may be reached. */
  stop(): Promise<void>;
}

/** A presence that was taken: with the revision that says that it is still ours. */
interface NodeLease {
  readonly kept: KeptLease;
  readonly revision: Revision;
}

/** Milliseconds for one call to the store, and for taking the presence back. */
const callDeadline = 5_000;
const stopDeadline = 1_000;
/** Milliseconds between attempts: doubling up to the last. */
const firstPause = 100;
const lastPause = 5_000;
const writePause = 500;

export function createRegistration(options: RegistrationOptions): Registration {
  const { node, instance, store, keys, clock, log, faults, ttl, vanishAfter, noteWritten } = options;
  const stopped = new AbortController();
  const listeners = new Set<(standing: Standing) => void>();
  let standing: Standing = { kind: 'joining' };
  let settle = (): void => undefined;
  const settled = new Promise<void>((resolve) => (settle = resolve));
  let wanted: Node | undefined;
  let wake = (): void => undefined;
  let held: NodeLease | undefined;
  let running: Promise<void> | undefined;

  const call = <T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> =>
    withDeadline(stopped.signal, Math.min(callDeadline, ttl), work);

  function become(next: Standing): void {
    const before = standing;
    standing = next;
    settle();
    if (before.kind !== next.kind) report(log, next);
    for (const listener of [...listeners]) listener(next);
  }

  async function run(): Promise<void> {
    let pause = firstPause;
    while (!stopped.signal.aborted) {
      try {
        held = await takePresence();
        pause = firstPause;
        become({ kind: 'registered', since: clock.now() });
        await keepWritten(held);
      } catch (error) {
        if (stopped.signal.aborted) return;
        const isTaken = error instanceof PodwireError && error.code === 'NODE_NAME_TAKEN';
        become(isTaken ? { kind: 'taken', error } : { kind: 'away', error });
      }
      await rest(Math.min(pause, ttl / 3));
      pause = Math.min(pause * 2, lastPause);
    }
  }

  /** @throws PodwireError NODE_NAME_TAKEN, and as the store does */
  async function takePresence(): Promise<NodeLease> {
    const key = keys.nodeLease(node);
    const [there, object] = await call((signal) =>
      Promise.all([store.get(key, { signal }), store.get(keys.node(node), { signal })]),
    );
    refuseOtherAgent(there, options);
    refuseOtherMachine(object, options);
    const askedAt = clock.elapsed();
    const lease = await call((signal) => store.grantLease(ttl, { signal }));
    const kept = keepLease(lease, { clock, log, askedAt });
    faults.reach('register:leased');
    try {
      const value = encodeObject(nodeLeaseKind, { node, instance, since: clock.now() });
      // Our own of an earlier life, or of a write that nobody confirmed, is taken over at once.
      const expect = there?.revision ?? 'absent';
      const outcome = await call((signal) =>
        store.transact(
          {
            conditions: [
              { key, expect },
              { key: keys.node(node), expect: object?.revision ?? 'absent' },
            ],
            writes: [
              { op: 'put', key, value, lease: lease.id },
              { op: 'delete', key: keys.unreachable(node) },
              ...promise(object),
            ],
          },
          { signal },
        ),
      );
      faults.reach('register:present');
      if (outcome.committed) return { kept, revision: outcome.revision };
      refuseOtherAgent(outcome.found[0], options);
      throw new PodwireError('STORE_CONFLICT', `${key} was changed by somebody else`);
    } catch (error) {
      kept.stop();
      await call((signal) => lease.revoke({ signal })).catch(() => undefined);
      throw error;
    }
  }

  /**
   * Whoever sees the presence go must find in the object how long this agent goes on without the store: it may have been
   * started with another configuration than the one before, and a controller gives blocks of unknown nodes away soon.
   */
  function promise(object: Item | undefined): Write[] {
    const before = object === undefined ? undefined : readNode(object);
    if (before?.vanishAfter === vanishAfter) return [];
    const value = before === undefined ? options.describe() : { ...before, vanishAfter };
    if (value === undefined) return [];
    return [{ op: 'put', key: keys.node(node), value: encodeObject(nodeKind, value) }];
  }

  /** Keeps the object up to date until the presence is lost. @throws STORE_LEASE_LOST */
  async function keepWritten(presence: NodeLease): Promise<void> {
    const { kept } = presence;
    const { lost } = kept;
    let written: Node | undefined;
    lost.addEventListener('abort', () => wake(), { once: true });
    try {
      while (!stopped.signal.aborted) {
        lost.throwIfAborted();
        const node = wanted;
        if (node === undefined || node === written) {
          await rest(undefined, () => wanted !== written || lost.aborted);
        } else if (await tryToWrite(node, presence)) written = node;
        else await rest(writePause);
      }
    } finally {
      kept.stop();
    }
  }

  async function tryToWrite(node: Node, presence: NodeLease): Promise<boolean> {
    try {
      await writeNode(node, presence);
      return true;
    } catch (error) {
      if (error instanceof PodwireError && error.code === 'STORE_LEASE_LOST') throw error;
      if (!stopped.signal.aborted)
        log.warn({ err: error }, 'the node object could not be written; it is tried again');
      return false;
    }
  }

  /** Written only where it says something new: a restart of the agent is no news to its peers. */
  async function writeNode(value: Node, presence: NodeLease): Promise<void> {
    const key = keys.node(node);
    const there = await call((signal) => store.get(key, { signal }));
    const registeredAt = registrationOf(there, value);
    const text = encodeObject(nodeKind, { ...value, registeredAt });
    if (there?.value === text) return;
    const outcome = await call((signal) =>
      store.transact(
        {
          conditions: [
            { key: keys.nodeLease(node), expect: presence.revision },
            { key, expect: there?.revision ?? 'absent' },
          ],
          writes: [{ op: 'put', key, value: text }],
        },
        { signal },
      ),
    );
    faults.reach('register:node-written');
    if (outcome.committed) {
      noteWritten(key, { ...value, registeredAt }, outcome.revision);
      log.info({ instance, addresses: value.addresses, tunnel: value.tunnel }, 'registered the node');
      return;
    }
    const lost = outcome.found[0]?.revision !== presence.revision;
    if (lost) throw new PodwireError('STORE_LEASE_LOST', 'the presence of this node was taken away');
    throw new PodwireError('STORE_CONFLICT', `${key} was changed by somebody else`);
  }

  /** The time of the first registration of this instance. */
  function registrationOf(there: Item | undefined, value: Node): number {
    const before = there === undefined ? undefined : readNode(there);
    return before?.instance === instance ? before.registeredAt : value.registeredAt;
  }

  function readNode({ key, value }: Item): Node | undefined {
    try {
      return decodeObject(nodeKind, key, value);
    } catch (err) {
      log.warn({ err }, 'what the store said of this node cannot be read; it is written anew');
      return undefined;
    }
  }

  /** Until the time is over (if there is one), somebody wakes it, or all ends. */
  async function rest(milliseconds: number | undefined, isOver: () => boolean = () => false): Promise<void> {
    const awake = new AbortController();
    const end = (): void => awake.abort();
    wake = end;
    if (isOver() || stopped.signal.aborted) return;
    stopped.signal.addEventListener('abort', end, { once: true });
    if (milliseconds !== undefined) await clock.sleep(milliseconds, awake.signal).catch(() => undefined);
    else await new Promise((resolve) => awake.signal.addEventListener('abort', resolve, { once: true }));
    stopped.signal.removeEventListener('abort', end);
  }

  return {
    start: () => void (running ??= run()),
    get standing() {
      return standing;
    },
    settled,
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    publish(value) {
      wanted = value;
      wake();
    },
    async stop() {
      stopped.abort(new PodwireError('AGENT_NOT_READY', 'the agent is stopping'));
      await running;
      if (standing.kind !== 'registered' || held === undefined) return;
      const { lease } = held.kept;
      await withDeadline(undefined, stopDeadline, (signal) => lease.revoke({ signal })).catch(
        (err: unknown) =>
          log.warn({ err }, 'the presence of this node could not be taken back; it ends with its lease'),
      );
    },
  };
}

function report(log: Log, standing: Standing): void {
  if (standing.kind === 'registered') log.info({}, 'the node is present in the cluster');
  else if (standing.kind === 'taken') log.error({ err: standing.error }, 'the name of this node is taken');
  else if (standing.kind === 'away')
    log.warn({ err: standing.error }, 'the node could not be registered; it is tried again');
}
