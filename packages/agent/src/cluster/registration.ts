/**
 * Registers the node in the store: its lease object, which ends with the store's lease, and its node object, which stays. In the
 * background; other parts wait for the outcome alone.
 */
import { type Keys, type Node, nodeKind, nodeLeaseKind } from '@podwire/cluster-state';
import { PodwireError } from '@podwire/errors';
import {
  Backoff,
  type Clock,
  type FaultPoints,
  type Log,
  Notify,
  onAbort,
  pause,
  withDeadline,
} from '@podwire/platform';
import {
  type Condition,
  decodeObject,
  encodeObject,
  type Item,
  keepLease,
  type KeptLease,
  type LeaseId,
  type Revision,
  type Store,
  type Write,
} from '@podwire/store';
import { refuseOtherAgent, refuseOtherMachine } from './node-name.js';

export type RegistrationState =
  /** Not tried yet. */
  | { readonly kind: 'joining' }
  | { readonly kind: 'registered'; readonly since: number }
  /** Another agent with this name is alive. */
  | { readonly kind: 'taken'; readonly error: PodwireError }
  /** The store does not answer, or refuses. */
  | { readonly kind: 'away'; readonly error: unknown };

export interface RegistrationOptions {
  readonly node: string;
  readonly instance: string;
  /** Identifies the machine; see {@link refuseOtherMachine}. */
  readonly machine?: string;
  readonly store: Store;
  readonly keys: Keys;
  readonly clock: Clock;
  readonly log: Log;
  readonly faults: FaultPoints;
  /** Milliseconds that the lease outlives its last renewal. */
  readonly ttl: number;
  /** Milliseconds; written into the node object (`vanishAfter`, see {@link nodeKind}). */
  readonly evictionTimeout: number;
  /** The first object of a new node; undefined: it is written when it is published. */
  readonly describe: () => Node | undefined;
  /** An own write, for the cluster cache. */
  readonly noteWritten: (key: string, node: Node, revision: Revision) => void;
}

interface OwnLease {
  readonly kept: KeptLease;
  /** Of the lease object: while it has this revision, it is still this agent's. */
  readonly revision: Revision;
}

/** Milliseconds for one call to the store, and for revoking the lease. */
const callDeadline = 5_000;
const stopDeadline = 1_000;
/** Milliseconds between attempts. */
const backoff = { first: 100, longest: 5_000 } as const;
const writePause = 500;

export class Registration {
  readonly #options: RegistrationOptions;
  readonly #stopped = new AbortController();
  readonly #listeners = new Set<(state: RegistrationState) => void>();
  readonly #published = new Notify();
  #state: RegistrationState = { kind: 'joining' };
  #settle = (): void => undefined;
  #wanted: Node | undefined;
  #lease: OwnLease | undefined;
  #running: Promise<void> | undefined;
  /** Resolves with the first outcome. */
  readonly settled = new Promise<void>((resolve) => (this.#settle = resolve));

  constructor(options: RegistrationOptions) {
    this.#options = options;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  get state(): RegistrationState {
    return this.#state;
  }

  /** Of the lease that the node is registered with; undefined while it is not. */
  get leaseId(): LeaseId | undefined {
    return this.#state.kind === 'registered' ? this.#lease?.kept.lease.id : undefined;
  }

  /** Called when the state has changed. @returns how to unsubscribe */
  onChange(listener: (state: RegistrationState) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** The node object from now on; written as soon as the node is registered. */
  publish(node: Node): void {
    this.#wanted = node;
    this.#published.notify();
  }

  /** Revokes the lease and leaves the node object: the node's pods run on, and stay reachable. */
  async stop(): Promise<void> {
    this.#stopped.abort(new PodwireError('AGENT_NOT_READY', 'the agent is stopping'));
    await this.#running;
    if (this.#state.kind !== 'registered' || this.#lease === undefined) return;
    const { lease } = this.#lease.kept;
    const { log } = this.#options;
    await withDeadline(undefined, stopDeadline, (signal) => lease.revoke({ signal })).catch((err: unknown) =>
      log.warn({ err }, 'the lease of this node could not be revoked; it expires'),
    );
  }

  #call<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    return withDeadline(this.#stopped.signal, Math.min(callDeadline, this.#options.ttl), work);
  }

  #become(next: RegistrationState): void {
    const before = this.#state;
    this.#state = next;
    this.#settle();
    if (before.kind !== next.kind) report(this.#options.log, next);
    for (const listener of [...this.#listeners]) listener(next);
  }

  async #run(): Promise<void> {
    const { clock, ttl } = this.#options;
    const { signal } = this.#stopped;
    const failures = new Backoff(backoff);
    while (!signal.aborted) {
      try {
        this.#lease = await this.#acquireLease();
        failures.reset();
        this.#become({ kind: 'registered', since: clock.now() });
        await this.#keepWritten(this.#lease);
      } catch (error) {
        if (signal.aborted) return;
        const isTaken = error instanceof PodwireError && error.code === 'NODE_NAME_TAKEN';
        this.#become(isTaken ? { kind: 'taken', error } : { kind: 'away', error });
      }
      await pause(clock, Math.min(failures.fail(), ttl / 3), signal);
    }
  }

  /** @throws PodwireError NODE_NAME_TAKEN, and as the store does */
  async #acquireLease(): Promise<OwnLease> {
    const { node, store, keys, clock, log, faults, ttl } = this.#options;
    const [present, object] = await this.#call((signal) =>
      Promise.all([store.get(keys.nodeLease(node), { signal }), store.get(keys.node(node), { signal })]),
    );
    refuseOtherAgent(present, this.#options);
    refuseOtherMachine(object, this.#options);
    const askedAt = clock.elapsed();
    const lease = await this.#call((signal) => store.grantLease(ttl, { signal }));
    const kept = keepLease(lease, { clock, log, askedAt });
    faults.reach('register:leased');
    try {
      return { kept, revision: await this.#writeLease(lease.id, present, object) };
    } catch (error) {
      kept.stop();
      await this.#call((signal) => lease.revoke({ signal })).catch(() => undefined);
      throw error;
    }
  }

  /** The node's lease object of an earlier life, or of an unconfirmed write, is replaced at once. */
  async #writeLease(
    lease: KeptLease['lease']['id'],
    present: Item | undefined,
    object: Item | undefined,
  ): Promise<Revision> {
    const { node, instance, store, keys, clock, faults } = this.#options;
    const key = keys.nodeLease(node);
    const value = encodeObject(nodeLeaseKind, { node, instance, since: clock.now() });
    const conditions: Condition[] = [
      { key, expect: present?.revision ?? 'absent' },
      { key: keys.node(node), expect: object?.revision ?? 'absent' },
    ];
    const writes: Write[] = [
      { op: 'put', key, value, lease },
      { op: 'delete', key: keys.unreachable(node) },
      ...this.#writeTimeout(object),
    ];
    const outcome = await this.#call((signal) => store.transact({ conditions, writes }, { signal }));
    faults.reach('register:present');
    if (outcome.committed) return outcome.revision;
    refuseOtherAgent(outcome.found[0], this.#options);
    throw new PodwireError('STORE_CONFLICT', `${key} was changed by another writer`);
  }

  /**
   * The node object must have this agent's eviction timeout before its lease can end: the agent may have been started with another
   * configuration, and the controller releases the blocks of unknown nodes soon.
   */
  #writeTimeout(object: Item | undefined): Write[] {
    const { node, keys, evictionTimeout, describe } = this.#options;
    const before = object === undefined ? undefined : this.#readNode(object);
    if (before?.vanishAfter === evictionTimeout) return [];
    const value = before === undefined ? describe() : { ...before, vanishAfter: evictionTimeout };
    if (value === undefined) return [];
    return [{ op: 'put', key: keys.node(node), value: encodeObject(nodeKind, value) }];
  }

  /** Keeps the node object up to date until the lease is lost. @throws STORE_LEASE_LOST */
  async #keepWritten(lease: OwnLease): Promise<void> {
    const { clock } = this.#options;
    const { lost } = lease.kept;
    const unsubscribe = onAbort(lost, () => this.#published.notify());
    const { signal } = this.#stopped;
    let written: Node | undefined;
    try {
      while (!signal.aborted) {
        lost.throwIfAborted();
        const node = this.#wanted;
        if (node === undefined || node === written)
          await this.#published.notified(signal).catch(() => undefined);
        else if (await this.#tryToWrite(node, lease)) written = node;
        else await pause(clock, writePause, signal);
      }
    } finally {
      unsubscribe();
      lease.kept.stop();
    }
  }

  async #tryToWrite(node: Node, lease: OwnLease): Promise<boolean> {
    try {
      await this.#writeNode(node, lease);
      return true;
    } catch (error) {
      if (error instanceof PodwireError && error.code === 'STORE_LEASE_LOST') throw error;
      if (!this.#stopped.signal.aborted)
        this.#options.log.warn({ err: error }, 'the node object could not be written; it is tried again');
      return false;
    }
  }

  /** Not written when it is the same: a restart of the agent must not wake its peers. */
  async #writeNode(value: Node, lease: OwnLease): Promise<void> {
    const { node, instance, store, keys, log, faults, noteWritten } = this.#options;
    const key = keys.node(node);
    const present = await this.#call((signal) => store.get(key, { signal }));
    const registeredAt = this.#registeredAt(present, value);
    const text = encodeObject(nodeKind, { ...value, registeredAt });
    if (present?.value === text) return;
    const conditions: Condition[] = [
      { key: keys.nodeLease(node), expect: lease.revision },
      { key, expect: present?.revision ?? 'absent' },
    ];
    const writes: Write[] = [{ op: 'put', key, value: text }];
    const outcome = await this.#call((signal) => store.transact({ conditions, writes }, { signal }));
    faults.reach('register:node-written');
    if (outcome.committed) {
      noteWritten(key, { ...value, registeredAt }, outcome.revision);
      log.info({ instance, addresses: value.addresses, tunnel: value.tunnel }, 'registered the node');
      return;
    }
    const isLost = outcome.found[0]?.revision !== lease.revision;
    if (isLost) throw new PodwireError('STORE_LEASE_LOST', 'the lease of this node was taken away');
    throw new PodwireError('STORE_CONFLICT', `${key} was changed by another writer`);
  }

  /** The time of the first registration of this instance. */
  #registeredAt(present: Item | undefined, value: Node): number {
    const before = present === undefined ? undefined : this.#readNode(present);
    return before?.instance === this.#options.instance ? before.registeredAt : value.registeredAt;
  }

  #readNode({ key, value }: Item): Node | undefined {
    try {
      return decodeObject(nodeKind, key, value);
    } catch (err) {
      this.#options.log.warn({ err }, 'the node object cannot be decoded; it is written again');
      return undefined;
    }
  }
}

function report(log: Log, state: RegistrationState): void {
  if (state.kind === 'registered') log.info({}, 'the node is registered in the cluster');
  else if (state.kind === 'taken') log.error({ err: state.error }, 'the name of this node is taken');
  else if (state.kind === 'away')
    log.warn({ err: state.error }, 'the node could not be registered; it is tried again');
}
