/** Pods that come and go on a node, without end. */
import { eventually } from '@podwire/testkit';
import type { NodeCalls, Pod } from './node.js';

export interface Churn {
  /** ADDs and DELs that were answered, all of them well. */
  readonly count: { readonly adds: number; readonly dels: number };
  /** Resolves when so many more of each have been answered than now. @throws what an ADD or DEL has failed with */
  more(count: number): Promise<void>;
  /** Ends it; `keep` pods stay. @throws what an ADD or DEL has failed with */
  stop(): Promise<void>;
}

/** @param keep how many pods are alive at a time */
export function startChurn(node: NodeCalls, keep = 3): Churn {
  const count = { adds: 0, dels: 0 };
  const alive: Pod[] = [];
  let isOver = false;
  let failure: Error | undefined;
  const running = (async () => {
    while (!isOver) {
      alive.push(await node.add());
      count.adds++;
      if (alive.length <= keep) continue;
      await node.del(alive.shift()!);
      count.dels++;
    }
  })().catch((error: unknown) => {
    failure = error instanceof Error ? error : new Error(String(error));
  });
  const check = (): void => {
    if (failure !== undefined) throw failure;
  };
  return {
    count,
    async more(wanted) {
      const { adds, dels } = count;
      await eventually(`${wanted} pods more come and go on ${node.name}`, () => {
        check();
        return count.adds >= adds + wanted && count.dels >= dels + wanted;
      });
    },
    async stop() {
      isOver = true;
      await running;
      check();
    },
  };
}

/** On each of the nodes for as long as the work takes. @returns what it came to */
export async function whileChurning<T>(
  nodes: readonly NodeCalls[],
  work: (more: (count: number) => Promise<void>) => Promise<T>,
): Promise<T> {
  const churns = nodes.map((node) => startChurn(node));
  const more = async (count: number): Promise<void> =>
    void (await Promise.all(churns.map((churn) => churn.more(count))));
  const outcome = await work(more).then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  const ends = await Promise.allSettled(churns.map((churn) => churn.stop()));
  // A fault of a pod explains more than the wait that it has ended.
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
  if ('error' in outcome) throw outcome.error;
  return outcome.value;
}
