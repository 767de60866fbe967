import assert from 'node:assert/strict';
import type { ErrorCode } from '@podwire/errors';
import { PodwireError } from '@podwire/errors';
import { type Log, silentLog, systemClock } from '@podwire/platform';
import type { Item, Store, WatchBatch } from '@podwire/store';
import { type EtcdSpec, type EtcdTimeouts, openEtcdStore } from '@podwire/store/etcd';

export interface OpenOptions {
  readonly timeouts?: Partial<EtcdTimeouts>;
  readonly log?: Log;
}

const opened: Store[] = [];

/** A client that begins with the first endpoint. */
export async function openStore(
  spec: EtcdSpec,
  { timeouts, log = silentLog }: OpenOptions = {},
): Promise<Store> {
  const store = await openEtcdStore(spec, {
    log,
    clock: systemClock,
    random: () => 0,
    ...(timeouts && { timeouts }),
  });
  opened.push(store);
  return store;
}

/** Also those that a test which failed has left open. */
export const closeStores = async (): Promise<void> =>
  void (await Promise.all(opened.splice(0).map((store) => store.close())));

export async function failureOf(work: Promise<unknown>, code: ErrorCode): Promise<PodwireError> {
  const error = await work.then(
    () => assert.fail(`it went well instead of failing with ${code}`),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof PodwireError)) throw error;
  assert.equal(error.code, code, error.message);
  return error;
}

/** Asks again until it works. A test that hangs is ended by its runner. */
export async function eventually<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof PodwireError)) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

/** A watch that is put together as it comes. */
export interface Follower {
  readonly batches: readonly WatchBatch[];
  readonly interruptions: readonly unknown[];
  readonly values: () => Record<string, string>;
  readonly until: (isSo: (follower: Follower) => boolean) => Promise<void>;
  readonly end: () => Promise<void>;
}

export function followStore(store: Store, prefix: string): Follower {
  const over = new AbortController();
  const copy = new Map<string, Item>();
  const batches: WatchBatch[] = [];
  const interruptions: unknown[] = [];
  let look = (): void => undefined;
  const take = (batch: WatchBatch): void => {
    batches.push(batch);
    if (batch.type === 'snapshot') copy.clear();
    const puts =
      batch.type === 'snapshot'
        ? batch.items
        : batch.changes.flatMap((each) => (each.type === 'put' ? each.item : []));
    if (batch.type === 'changes')
      for (const change of batch.changes) if (change.type === 'delete') copy.delete(change.key);
    for (const item of puts) copy.set(item.key, item);
    look();
  };
  const onInterruption = (error: unknown): void => {
    interruptions.push(error);
    look();
  };
  const running = (async () => {
    for await (const batch of store.watch(prefix, { signal: over.signal, onInterruption })) take(batch);
  })();
  const self: Follower = {
    batches,
    interruptions,
    values: () =>
      Object.fromEntries([...copy.values()].map(({ key, value }) => [key.slice(prefix.length), value])),
    until: (isSo) =>
      new Promise<void>((resolve) => {
        look = () => void (isSo(self) && resolve());
        look();
      }),
    end: async () => {
      over.abort();
      await running;
    },
  };
  return self;
}
