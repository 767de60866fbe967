/** A Consul for tests: one state, any number of servers in front of it, and faults. */
import { randomUUID } from 'node:crypto';
import { waitUntil, withDeadline } from '@podwire/platform';
import {
  type Contents,
  type Draft,
  draftOf,
  emptyContents,
  endSession,
  listEntries,
  type Session,
} from './state.js';
import { type KvOperation, runTransaction, type TransactionResult } from './transaction.js';

export interface Rights {
  /** Keys that begin so may be read, and written. Nothing when absent. */
  readonly read?: string;
  readonly write?: string;
  readonly sessions?: boolean;
}

export interface ConsulOptions {
  /** Ends sessions, and requests that wait. */
  readonly clock: { sleep(milliseconds: number, signal: AbortSignal): Promise<void> };
  /** From 0 to 1: what is added to how long a request waits. */
  readonly random?: () => number;
  /** ACL tokens; without them all requests are allowed. */
  readonly tokens?: Readonly<Record<string, Rights>>;
  /** Operations of a transaction; 64, as in older versions (now 128). */
  readonly mostOperations?: number;
}

const sessionTtl = { min: 10_000, max: 86_400_000 };

export class Consul {
  readonly options: ConsulOptions;
  #contents = emptyContents;
  readonly #listeners = new Set<() => void>();
  readonly #timers = new Map<string, AbortController>();

  constructor(options: ConsulOptions) {
    this.options = options;
  }

  get contents(): Contents {
    return this.#contents;
  }

  /** Goes back to what it had, as when a snapshot is restored: indexes go backwards. */
  restore(contents: Contents): void {
    this.#contents = contents;
    for (const tell of this.#listeners) tell();
  }

  /** Forgets deletions, as Consul does after 15 minutes. */
  reapTombstones(): void {
    this.#change((draft) => draft.tombstones.clear());
  }

  transact(operations: readonly KvOperation[]): TransactionResult {
    const result = runTransaction(this.#contents, operations);
    if ('contents' in result) this.restore(result.contents);
    return result;
  }

  createSession(asked: Partial<Session>): Session {
    const session = toSession(asked, this.#contents.index + 1);
    this.#change((draft) => draft.sessions.set(session.ID, session));
    this.#startTimer(session);
    return session;
  }

  renewSession(id: string): Session | undefined {
    const session = this.#contents.sessions.get(id);
    if (session !== undefined) this.#startTimer(session);
    return session;
  }

  destroySession(id: string): void {
    this.#timers.get(id)?.abort();
    this.#timers.delete(id);
    if (this.#contents.sessions.has(id)) this.#change((draft) => endSession(draft, id));
  }

  /** As {@link listEntries}, but not before the index is greater than `after`, or the time is up. */
  async awaitList(
    prefix: string,
    { index, wait }: { readonly index: number; readonly wait: number },
    signal: AbortSignal,
  ): Promise<void> {
    const { clock, random = () => 0 } = this.options;
    const isNew = (): boolean => listEntries(this.#contents, prefix).index > index;
    const untilNew = (either: AbortSignal): Promise<void> =>
      waitUntil(isNew, (listener) => this.#subscribe(listener), either);
    await withDeadline(signal, wait + (random() * wait) / 16, untilNew, { clock }).catch(() => undefined);
  }

  /** Ends all timers. */
  stop(): void {
    for (const timer of this.#timers.values()) timer.abort();
    this.#timers.clear();
  }

  #subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #change(edit: (draft: Draft) => void): void {
    const draft = draftOf(this.#contents);
    edit(draft);
    this.restore(draft);
  }

  #startTimer({ ID, TTL }: Session): void {
    if (TTL === '') return;
    this.#timers.get(ID)?.abort();
    const timer = new AbortController();
    this.#timers.set(ID, timer);
    // "A session is not expired before the TTL"; Consul waits for twice as long.
    this.options.clock.sleep(2 * readDuration(TTL), timer.signal).then(
      () => this.destroySession(ID),
      () => undefined,
    );
  }
}

/** @throws Error as Consul words it */
function toSession(asked: Partial<Session>, index: number): Session {
  const { Name = '', Behavior = 'release', TTL = '', LockDelay = '15s' } = asked as Record<string, string>;
  if (!['release', 'delete'].includes(Behavior)) throw new Error(`Invalid Behavior setting '${Behavior}'`);
  const ttl = readDuration(TTL);
  if (TTL !== '' && (ttl < sessionTtl.min || ttl > sessionTtl.max))
    throw new Error(`Invalid Session TTL '${ttl * 1_000_000}', must be between [10s=24h0m0s]`);
  return {
    ID: randomUUID(),
    Name,
    Node: 'test',
    Behavior: Behavior as Session['Behavior'],
    TTL,
    LockDelay: readDuration(LockDelay),
    CreateIndex: index,
    ModifyIndex: index,
  };
}

/** `20s`, `5m` as milliseconds; an empty one is 0. @throws Error */
export function readDuration(text: string): number {
  const units: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };
  const [, number, unit = ''] = /^([0-9.]+)(ms|s|m|h)$/.exec(text) ?? [];
  if (text === '') return 0;
  if (number === undefined) throw new Error(`time: invalid duration "${text}"`);
  return Number(number) * (units[unit] ?? 0);
}
