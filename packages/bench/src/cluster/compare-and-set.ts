/** One compare-and-set in the store for each address: the node's block is read, and written with one entry more. */
import { PodwireError } from '@podwire/errors';
import type { Store } from '@podwire/store';

/** Approximate record of one address in Calico. */
interface Entry {
  readonly handle: string;
  readonly node: string;
  readonly pod: string;
  readonly timestamp: string;
}

export interface EntryWriter {
  /** Resolves when the store has it. */
  write(pod: string, signal: AbortSignal): Promise<void>;
}

/** Addresses of a block, and so entries of it. */
const blockSize = 64;

/** One after the other on each node, as calico-ipam's lock has it: else a node would only trip over itself. */
export function createEntryWriter(store: Store, node: string): EntryWriter {
  const key = `/bench/blocks/${node}`;

  async function writeEntry(pod: string, signal: AbortSignal): Promise<void> {
    for (;;) {
      const item = await store.get(key, { signal });
      const entries = item === undefined ? [] : (JSON.parse(item.value) as Entry[]);
      const entry = { handle: `k8s-pod-network.${pod}`, node, pod, timestamp: new Date().toISOString() };
      const value = JSON.stringify([...entries, entry].slice(-blockSize));
      try {
        await store.put(key, value, { expect: item?.revision ?? 'absent', signal });
        return;
      } catch (error) {
        if (!(error instanceof PodwireError) || error.code !== 'STORE_CONFLICT') throw error;
      }
    }
  }

  let last: Promise<void> = Promise.resolve();
  return {
    async write(pod, signal) {
      const turn = last.then(() => writeEntry(pod, signal));
      last = turn.catch(() => undefined);
      await turn;
    },
  };
}
