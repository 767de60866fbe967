/** A Consul for tests: one state, as many servers in front of it as a test wants, and what can go wrong. */
import { randomUUID } from 'node:crypto';
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

export interface Consul {
  readonly options: ConsulOptions;
  contents(): Contents;
  /** Goes back to what it had, as when a snapshot is restored: indexes go backwards. */
  restore(contents: Contents): void;
  /** Forgets deletions, as Consul does after 15 minutes. */
  reapTombstones(): void;
  transact(operations: readonly KvOperation[]): TransactionResult;
  createSession(asked: Partial<Session>): Session;
  renewSession(id: string): Session | undefined;
  destroySession(id: string): void;
  /** As {@link listEntries}, but not before the index is greater than `after`, or the time is up. */
  awaitList(
    prefix: string,
    after: { readonly index: number; readonly wait: number },
    signal: AbortSignal,
  ): Promise<void>;
  /** Ends all timers. */
  stop(): void;
}

const sessionTtl = { min: 10_000, max: 86_400_000 };

export function createConsul(options: ConsulOptions): Consul {
  let contents = emptyContents;
  const listeners = new Set<() => void>();
  const timers = new Map<string, AbortController>();
  const set = (next: Contents): void => {
    contents = next;
    for (const tell of listeners) tell();
  };
  const change = (edit: (draft: Draft) => void): void => {
    const draft = draftOf(contents);
    edit(draft);
    set(draft);
  };
  const end = (id: string): void => {
    timers.get(id)?.abort();
    timers.delete(id);
    if (contents.sessions.has(id)) change((draft) => endSession(draft, id));
  };
  const startTimer = ({ ID, TTL }: Session): void => {
    timers.get(ID)?.abort();
    const timer = new AbortController();
    timers.set(ID, timer);
    // "A session is not expired before the TTL"; Consul waits for twice as long.
    options.clock.sleep(2 * readDuration(TTL), timer.signal).then(
      () => end(ID),
      () => undefined,
    );
  };
  const changed = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const done = (): void => {
        listeners.delete(done);
        signal.removeEventListener('abort', done);
        resolve();
      };
      listeners.add(done);
      signal.addEventListener('abort', done, { once: true });
    });

  return {
    options,
    contents: () => contents,
    restore: set,
    reapTombstones: () => change((draft) => draft.tombstones.clear()),
    transact(operations) {
      const result = runTransaction(contents, operations);
      if ('contents' in result) set(result.contents);
      return result;
    },
    createSession(asked) {
      const session = toSession(asked, contents.index + 1);
      change((draft) => draft.sessions.set(session.ID, session));
      if (session.TTL !== '') startTimer(session);
      return session;
    },
    renewSession(id) {
      const session = contents.sessions.get(id);
      if (session !== undefined && session.TTL !== '') startTimer(session);
      return session;
    },
    destroySession: end,
    async awaitList(prefix, { index, wait }, signal) {
      const over = new AbortController();
      const stop = (): void => over.abort();
      signal.addEventListener('abort', stop, { once: true });
      if (signal.aborted) stop();
      const jitter = ((options.random?.() ?? 0) * wait) / 16;
      options.clock.sleep(wait + jitter, over.signal).then(stop, () => undefined);
      while (!over.signal.aborted && listEntries(contents, prefix).index <= index) await changed(over.signal);
      stop();
    },
    stop() {
      for (const timer of timers.values()) timer.abort();
      timers.clear();
    },
  };
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
