import { setImmediate } from 'node:timers/promises';
import { hasCode } from '@podwire/linux';
import { NetlinkBatchError, type NetlinkRequest } from '@podwire/netlink';
import type { EngineContext } from './context.js';

/** Something of Podwire's that belonged to no record and was taken away, in words: `link cali0123`. */
export interface Pruned {
  readonly what: string;
  readonly error?: unknown;
}

/** What is not there any more was not pruned. */
const isGone = (error: unknown): boolean =>
  hasCode(error, 'ENOENT', 'ESRCH', 'ENODEV', 'EADDRNOTAVAIL', 'ENETDOWN');

export function attempt(context: EngineContext, what: string, work: () => void): Pruned[] {
  context.faults.reach(`prune:${what.split(' ', 1)[0]}`);
  try {
    work();
    return [{ what }];
  } catch (error) {
    return isGone(error) ? [] : [{ what, error }];
  }
}

/** Something on the host that has to go by one request. */
export interface Leftover {
  readonly what: string;
  readonly request: () => NetlinkRequest;
}

/** Requests in one call to the kernel: others get their turn every few milliseconds, also when thousands have to go. */
const BATCH = 512;

export async function deleteAll(context: EngineContext, leftovers: readonly Leftover[]): Promise<Pruned[]> {
  const pruned: Pruned[] = [];
  const size = context.single ? 1 : BATCH;
  for (let at = 0; at < leftovers.length; at += size) {
    const batch = leftovers.slice(at, at + size);
    context.faults.reach(`prune:${batch[0]!.what.split(' ', 1)[0]}`);
    pruned.push(...deleteBatch(context, batch));
    await setImmediate();
  }
  return pruned;
}

function deleteBatch(context: EngineContext, batch: readonly Leftover[]): Pruned[] {
  const errors = requestAll(
    context,
    batch.map(({ request }) => request()),
  );
  return batch.flatMap(({ what }, index) => {
    if (!errors.has(index)) return [{ what }];
    const error = errors.get(index);
    return isGone(error) ? [] : [{ what, error }];
  });
}

function requestAll({ kernel }: EngineContext, requests: readonly NetlinkRequest[]): Map<number, unknown> {
  try {
    kernel.host.route.request(requests);
    return new Map();
  } catch (error) {
    if (!(error instanceof NetlinkBatchError)) return new Map(requests.map((_, index) => [index, error]));
    return new Map(error.failures.map((failure) => [failure.index, new NetlinkBatchError([failure])]));
  }
}
