/** The rows of a database, followed as long as the backend is open. */
import { orAborted } from '@podwire/platform';
import {
  type CacheEvent,
  type CallOptions,
  type Operation,
  type OvsdbClient,
  OvsdbError,
  TransactionError,
} from '@podwire/ovsdb';
import { silentError } from '../errors.js';
import { type DatabaseDescription, EXTERNAL_IDS, type Progress } from './description.js';
import { type AnyCache, type AnyRow, indexesFor, requestFor, View } from './view.js';

interface UntilOptions {
  readonly signal: AbortSignal;
  readonly timeout: number;
}

/** Holds at the end of a transaction, or nothing of that is done. */
export interface Guard {
  readonly operation: Operation;
  readonly refuse: (cause: TransactionError) => Error;
}

export class DatabaseLink {
  /** Of all transactions that carry out resources. */
  guard: Guard | undefined;
  readonly description: DatabaseDescription;
  readonly #client: OvsdbClient;
  readonly #listeners = new Set<(event: CacheEvent) => void>();
  /** Ids of the resources that a transaction of ours is about at this moment. */
  readonly #underWay = new Map<string, number>();
  #cache: Promise<AnyCache> | undefined;
  #rows: AnyCache | undefined;
  #isClosed = false;

  /** @param client it is closed with the link */
  constructor(client: OvsdbClient, description: DatabaseDescription) {
    this.#client = client;
    this.description = description;
  }

  /**
   * The rows as they are now: no round trip while the connection stands.
   * @throws PodwireError BACKEND_SILENT; the signal's reason
   */
  async look(signal: AbortSignal): Promise<View> {
    try {
      const cache = await orAborted(this.#follow(), signal);
      await cache.until(({ isCurrent }) => isCurrent, { signal });
      return new View(this.description.tables, cache);
    } catch (error) {
      signal.throwIfAborted();
      throw silentError(this.description.database, error);
    }
  }

  /**
   * Waits for rows that are so. @param options milliseconds, and the caller's signal
   * @throws OvsdbError; the signal's reason
   */
  async until(isSo: (view: View) => boolean, options: UntilOptions): Promise<View> {
    const cache = await orAborted(this.#follow(), options.signal);
    const view = new View(this.description.tables, cache);
    await cache.until(({ isCurrent }) => isCurrent && isSo(view), options);
    return view;
  }

  /**
   * Waits until the program behind the database has acted on all that is in it now.
   * @throws OvsdbError; the signal's reason
   */
  async settle({ table, asked, done }: Progress, options: UntilOptions): Promise<void> {
    const number = await this.ask(table, asked, { signal: options.signal });
    await this.until((view) => Number(view.findSingle(table)?.[done] ?? number) >= number, options);
  }

  /** Writes a pair into `external_ids` of the only row of a table, which is made where it is missing. @throws OvsdbError */
  async writePair(
    table: string,
    [key, value]: readonly [string, string],
    options: CallOptions,
  ): Promise<void> {
    // An insert does not overwrite a key.
    const mutations = [
      [EXTERNAL_IDS, 'delete', new Set([key])],
      [EXTERNAL_IDS, 'insert', { [key]: value }],
    ] as const;
    const [{ count }] = await this.#client.transact([{ op: 'mutate', table, where: [], mutations }], options);
    if (count > 0) return;
    await this.#client.transact(
      [{ op: 'insert', table, row: { [EXTERNAL_IDS]: { [key]: value } } }],
      options,
    );
  }

  /** Counts up a column of the only row of a table. @returns its value then, 0 without the row @throws OvsdbError */
  async ask(table: string, column: string, options: CallOptions): Promise<number> {
    const [, selected] = await this.#client.transact(
      [
        { op: 'mutate', table, where: [], mutations: [[column, '+=', 1]] },
        { op: 'select', table, where: [], columns: [column] },
      ],
      options,
    );
    return Number(selected.rows[0]?.[column] ?? 0);
  }

  /**
   * @param ids of the resources that it is about
   * @throws the error of the guard; OvsdbError; TypeError, RangeError: something does not fit the schema
   */
  async transact(
    operations: readonly Operation[],
    ids: readonly string[],
    signal: AbortSignal,
  ): Promise<void> {
    for (const id of ids) this.#underWay.set(id, (this.#underWay.get(id) ?? 0) + 1);
    const { guard } = this;
    try {
      // Behind the others: failures are counted by their place.
      await this.#client.transact([...operations, ...(guard === undefined ? [] : [guard.operation])], {
        signal,
      });
    } catch (error) {
      const isRefused =
        error instanceof TransactionError && error.failures.some(({ index }) => index === operations.length);
      throw isRefused && guard !== undefined ? guard.refuse(error) : error;
    } finally {
      for (const id of ids) this.#end(id);
    }
  }

  /** A row as it was last seen. */
  get(table: string, uuid: string): AnyRow | undefined {
    return this.#rows?.get(table, uuid);
  }

  isUnderWay(id: string): boolean {
    return this.#underWay.has(id);
  }

  /** Calls the listener after each change, also with the first content. Begins to follow. @returns how to unsubscribe */
  subscribe(listener: (event: CacheEvent) => void): () => void {
    this.#listeners.add(listener);
    // Without a connection the next call, or the next look at the feed, tries again.
    this.#follow().catch(() => undefined);
    return () => this.#listeners.delete(listener);
  }

  /** Begins to follow, unless that is under way or done. */
  keepFollowing(): void {
    if (!this.#isClosed) this.#follow().catch(() => undefined);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#client.close();
  }

  #follow(): Promise<AnyCache> {
    this.#cache ??= this.#start().catch((error: unknown) => {
      this.#cache = undefined;
      throw error;
    });
    return this.#cache;
  }

  async #start(): Promise<AnyCache> {
    if (this.#isClosed) throw new OvsdbError('NOT_SENT', 'the backend is closed');
    const { tables } = this.description;
    const cache = await this.#client.monitor(requestFor(tables), { indexes: indexesFor(tables) });
    const tell = (event: CacheEvent): void => {
      for (const listener of this.#listeners) listener(event);
    };
    tell({ cause: 'initial', changes: [] });
    cache.subscribe(tell);
    this.#rows = cache;
    return cache;
  }

  #end(id: string): void {
    const left = this.#underWay.get(id)! - 1;
    if (left === 0) this.#underWay.delete(id);
    else this.#underWay.set(id, left);
  }
}
