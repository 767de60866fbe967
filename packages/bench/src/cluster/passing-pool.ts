/** A pool that comes and goes, for a node that follows it while it serves. */
import { keysBelow, poolKind } from '@podwire/cluster-state';
import { pause, silentLog, systemClock, untilAborted } from '@podwire/platform';
import { encodeObject, openStore } from '@podwire/store';
import type { ClusterHost } from '@podwire/testkit';
import { fillPool } from './bare-node.js';

/** No pod gets an address of it: a node with room in its own blocks claims none of another pool. */
export const passingPool = { name: 'passing', cidr: '10.63.0.0/16' } as const;

/** Milliseconds that it is there, and as many that it is not. */
const stay = 100;

/**
 * Creates the pool and deletes it again until the signal. The client is inside the machine's namespace: etcd listens nowhere
 * else.
 * @returns how often
 */
export async function passPool(
  host: Pick<ClusterHost, 'start'>,
  endpoints: readonly string[],
  over: AbortSignal,
): Promise<number> {
  const client = host.start([process.execPath, import.meta.filename, endpoints.join(',')]);
  await Promise.race([untilAborted(over), client.exited]);
  client.child.stdin?.end();
  const [, count] = await client.waitForOutput(/^(\d+) times$/m);
  await client.exited;
  return Number(count);
}

async function comeAndGo(endpoints: readonly string[], over: AbortSignal): Promise<number> {
  const store = await openStore({ kind: 'etcd', endpoints }, { log: silentLog, clock: systemClock });
  const key = keysBelow('/podwire').pool(passingPool.name);
  let count = 0;
  do {
    await store.put(key, encodeObject(poolKind, fillPool(passingPool)));
    await pause(systemClock, stay, over);
    await store.delete(key);
    count += 1;
  } while (await pause(systemClock, stay, over));
  await store.close();
  return count;
}

if (process.argv[1] === import.meta.filename) {
  const over = new AbortController();
  // It also closes when the benchmark is killed.
  process.stdin.on('end', () => over.abort()).resume();
  const count = await comeAndGo((process.argv[2] ?? '').split(','), over.signal);
  process.stdout.write(`${count} times\n`);
}
