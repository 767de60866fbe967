/** Follows changes, also those of other processes, for the watches of this one. */
import fs from 'node:fs';
import type { Clock, Log } from '@podwire/platform';
import type { Revision, WatchBatch } from '../contract.js';
import { toBatches, type Watcher, Watchers } from '../watchers.js';
import { type Database, readState } from './database.js';
import { findDeadline } from './leases.js';
import { readChanges, readListing } from './operations.js';

export interface EmbeddedWatcher extends Watcher {
  interrupt(error: unknown): void;
  recover(): void;
}

/** Milliseconds between checks without an event: an event may be lost, and leases end silently. */
const longestWait = 1_000;

export interface FollowerParts {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  /** The kernel's, as leases have it. */
  readonly now: () => number;
  /** Ends leases that are over. */
  readonly expire: () => void;
}

export class Follower {
  readonly #parts: FollowerParts;
  readonly #watchers = new Watchers();
  readonly #all = new Set<EmbeddedWatcher>();
  #seen: Revision = 0;
  #running: AbortController | undefined;
  #failing = false;
  #scheduled = false;

  constructor(parts: FollowerParts) {
    this.#parts = parts;
  }

  /** Tells everything after `from`, or a snapshot, and then what comes. */
  add(watcher: EmbeddedWatcher, from: Revision | undefined): void {
    this.#run();
    // The others first, up to the same revision, so that this one gets nothing twice.
    this.#catchUp();
    for (const batch of this.#missed(watcher.prefix, from)) watcher.deliver(batch);
    this.#watchers.add(watcher);
    this.#all.add(watcher);
  }

  delete(watcher: EmbeddedWatcher): void {
    this.#watchers.delete(watcher);
    this.#all.delete(watcher);
    if (this.#all.size === 0) this.stop();
  }

  stop(): void {
    this.#running?.abort();
    this.#running = undefined;
  }

  /** Looks soon, once for however many calls. */
  wake(): void {
    if (this.#scheduled || this.#running === undefined) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      if (this.#running !== undefined) this.#readChanges();
    });
  }

  #run(): void {
    if (this.#running !== undefined) return;
    const running = new AbortController();
    this.#running = running;
    this.#seen = readState(this.#parts.database).revision;
    this.#listen(running.signal);
    this.#poll(running.signal).catch((error: unknown) => {
      if (!running.signal.aborted) this.#parts.log.error({ error }, 'the store is followed no more');
    });
  }

  #listen(signal: AbortSignal): void {
    const { database, log } = this.#parts;
    try {
      const watcher = fs.watch(database.changeFile, { signal, persistent: false }, () => this.wake());
      watcher.on('error', (error) => log.warn({ error }, 'changes of other processes are seen late'));
    } catch (error) {
      log.warn({ error }, 'changes of other processes are seen late');
    }
  }

  async #poll(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#parts.clock.sleep(this.#wait(), signal);
      this.#readChanges();
    }
  }

  /** Until the next lease may end, if that is soon. */
  #wait(): number {
    const { database, now } = this.#parts;
    if (this.#failing) return longestWait;
    try {
      const left = (findDeadline(database) ?? Infinity) - now();
      return Math.max(1, Math.min(longestWait, left));
    } catch {
      return longestWait;
    }
  }

  #readChanges(): void {
    try {
      this.#parts.expire();
      this.#catchUp();
      if (!this.#failing) return;
      this.#failing = false;
      for (const watcher of this.#all) watcher.recover();
    } catch (error) {
      if (this.#failing) return;
      this.#failing = true;
      for (const watcher of this.#all) watcher.interrupt(error);
    }
  }

  #catchUp(): void {
    const { database } = this.#parts;
    database.root.resetReadTxn();
    const { revision } = readState(database);
    if (revision === this.#seen) return;
    const news = readChanges(database, this.#seen);
    if (news === undefined) for (const watcher of this.#all) watcher.deliver(this.#snapshot(watcher.prefix));
    else for (const { changes, revision: at } of news) this.#watchers.deliver(changes, at);
    // Last: a snapshot that could not be read is read again.
    this.#seen = revision;
  }

  #missed(prefix: string, from: Revision | undefined): readonly WatchBatch[] {
    const news = from === undefined ? undefined : readChanges(this.#parts.database, from);
    if (news === undefined) return [this.#snapshot(prefix)];
    return toBatches(news, prefix);
  }

  #snapshot(prefix: string): WatchBatch {
    return { type: 'snapshot', ...readListing(this.#parts.database, prefix) };
  }
}
