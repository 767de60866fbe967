/**
 * Pods whose nodes have left the cluster. No agent deletes their records, so that their addresses would never be free. A store that was
 * restored as it was earlier may lack a node that is about to register again: such a node has time.
 */
import type { PodRecord } from '@podwire/cluster-ovn';
import type { KeyWrite } from '@podwire/objects';
import type { Clock } from '@podwire/platform';

/** Milliseconds for which a node has been missing before its pods are given up. */
const grace = 15 * 60_000;

export class StrandedPods {
  readonly #clock: Pick<Clock, 'elapsed'>;
  /** When each node was missing first, by its name. */
  #missing: ReadonlyMap<string, number> = new Map();

  constructor(clock: Pick<Clock, 'elapsed'>) {
    this.#clock = clock;
  }

  /** @param records all whose nodes are missing now @returns those that are given up */
  select(records: readonly PodRecord[]): readonly PodRecord[] {
    const now = this.#clock.elapsed();
    const since = (node: string): number => this.#missing.get(node) ?? now;
    const nodes = new Set(records.flatMap(({ record }) => record.node ?? []));
    this.#missing = new Map([...nodes].map((node) => [node, since(node)]));
    return records.filter(({ record }) => now - this.#missing.get(record.node!)! >= grace);
  }
}

export const toRemoval = ({ key, revision }: PodRecord): KeyWrite => ({
  condition: { key, expect: revision },
  write: { op: 'delete', key },
});
