import { type Clock, waitUntil, withDeadline } from '@podwire/platform';
import { OvsdbError } from '../errors.js';
import type { Condition, DatabaseTypes } from '../transaction/types.js';
import type { IndexFunction, IndexKey } from './indexes.js';
import type { CacheEvent, Monitor } from './monitor.js';

/** Tables to follow. */
export type MonitorRequest<D extends DatabaseTypes> = {
  readonly [K in keyof D & string]?: {
    /** All when absent; `_uuid` is always there. */
    readonly columns?: readonly (keyof D[K]['row'] & string)[];
    /** Rows to follow; all when absent or empty. A row fits when one of the conditions holds. */
    readonly where?: readonly Condition<D[K]['values']>[];
  };
};

/** A row of a table that is followed: with `columns`, those and `_uuid`. */
export type CachedRow<D extends DatabaseTypes, M, K extends keyof D & keyof M> = M[K] extends {
  readonly columns: readonly (infer C)[];
}
  ? Pick<D[K]['row'], Extract<C | '_uuid', keyof D[K]['row']>>
  : D[K]['row'];

/** Keys by which rows are found. The functions must not throw. */
export type CacheIndexes<D extends DatabaseTypes, M> = {
  readonly [K in keyof D & keyof M]?: { readonly [index: string]: IndexFunction<CachedRow<D, M, K>> };
};

export interface UntilOptions {
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds; that of the client's calls when absent. */
  readonly timeout?: number;
}

interface CacheParts {
  readonly monitor: Monitor;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly timeout: number;
  readonly close: () => Promise<void>;
}

/**
 * The rows of the tables that are followed, kept up to date. They are replaced, never changed, so that a row can be kept. After an
 * own transaction its changes are there as soon as `transact` has returned.
 */
export class Cache<D extends DatabaseTypes, M extends MonitorRequest<D> = MonitorRequest<D>> {
  readonly #parts: CacheParts;

  /** @internal `client.monitor` makes caches. */
  constructor(parts: CacheParts) {
    this.#parts = parts;
  }

  /** False while there is no connection: the rows are those of its end. */
  get isCurrent(): boolean {
    return this.#parts.monitor.isCurrent;
  }

  /** The rows of a table by `_uuid`: the map changes with the database. */
  rows<K extends keyof D & keyof M & string>(table: K): ReadonlyMap<string, CachedRow<D, M, K>> {
    return this.#parts.monitor.rows(table) as ReadonlyMap<string, never>;
  }

  get<K extends keyof D & keyof M & string>(table: K, uuid: string): CachedRow<D, M, K> | undefined {
    return this.rows(table).get(uuid);
  }

  /** The rows that have this key in a declared index. @throws TypeError: the index was not declared */
  find<K extends keyof D & keyof M & string>(
    table: K,
    index: string,
    key: Exclude<IndexKey, undefined>,
  ): readonly CachedRow<D, M, K>[] {
    return this.#parts.monitor.find(table, index, key) as readonly unknown[] as readonly CachedRow<D, M, K>[];
  }

  /** Calls the listener after each change, in order. An error that it throws is logged. @returns how to unsubscribe */
  subscribe(listener: (event: CacheEvent) => void): () => void {
    return this.#parts.monitor.subscribe(listener);
  }

  /** Resolves when the condition holds; it is checked now and after each change. @throws OvsdbError `TIMEOUT`; the signal's reason */
  async until(isSo: (cache: this) => boolean, options: UntilOptions = {}): Promise<void> {
    const { clock, timeout, monitor } = this.#parts;
    const milliseconds = options.timeout ?? timeout;
    const reason = (): Error => new OvsdbError('TIMEOUT', `it did not become so within ${milliseconds} ms`);
    const wait = (signal: AbortSignal): Promise<void> =>
      waitUntil(
        () => isSo(this),
        (listener) => monitor.subscribe(listener),
        signal,
      );
    await withDeadline(options.signal, milliseconds, wait, { clock, reason });
  }

  /** Stops following. The rows stay as they are. */
  async close(): Promise<void> {
    await this.#parts.close();
  }
}
