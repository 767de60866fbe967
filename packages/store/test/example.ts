import { electLeader, type Lock, openStore, parseStoreUrl, type Store } from '@podwire/store';
import { silentLog, systemClock } from '@podwire/platform';

/** Takes a seat, if one is free. @returns which */
export async function takeSeat(
  store: Store,
  name: string,
  seats: readonly string[],
): Promise<string | undefined> {
  for (const seat of seats) {
    const outcome = await store.transact({
      conditions: [{ key: `/seats/${seat}`, expect: 'absent' }],
      writes: [{ op: 'put', key: `/seats/${seat}`, value: name }],
    });
    if (outcome.committed) return seat;
  }
  return undefined;
}

/** The seats and their users, each time they change. */
export async function* followSeats(
  store: Store,
  signal: AbortSignal,
): AsyncGenerator<ReadonlyMap<string, string>> {
  const seats = new Map<string, string>();
  for await (const batch of store.watch('/seats/', { signal })) {
    if (batch.type === 'snapshot') {
      seats.clear();
      for (const { key, value } of batch.items) seats.set(key, value);
    } else
      for (const change of batch.changes)
        if (change.type === 'put') seats.set(change.item.key, change.item.value);
        else seats.delete(change.key);
    yield seats;
  }
}

/** One process of all that share the store clears the seats. */
export async function clearSeats(url: string, holder: string, signal: AbortSignal): Promise<void> {
  const common = { log: silentLog, clock: systemClock };
  const store = await openStore(parseStoreUrl(url), common);
  const lead = async ({ fence, lost }: Lock): Promise<void> => {
    while (!lost.aborted) {
      const { items } = await store.list('/seats/', { signal: lost });
      await store.transact({
        // Nothing happens when another node leads by now, or leads again.
        conditions: [
          { key: '/leader', expect: fence },
          ...items.map(({ key, revision }) => ({ key, expect: revision })),
        ],
        writes: items.map(({ key }) => ({ op: 'delete', key })),
      });
      await systemClock.sleep(60_000, lost);
    }
  };
  await electLeader({ ...common, store, key: '/leader', holder, ttl: 10_000, lead }, signal);
  await store.close();
}
