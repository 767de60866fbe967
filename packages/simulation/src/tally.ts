import type { MemoryCall, Operation } from '@podwire/store/memory';

/** Counters of a simulation. */
export interface Tally {
  readonly calls: Map<Operation, number>;
  /** Calls by what they are about: the folder of their key. */
  readonly topics: Map<string, number>;
  allocations: number;
  /** Milliseconds of processor time. */
  allocating: number;
  slowPaths: number;
  /** Resources. */
  planned: number;
  planning: number;
  /** Simulated milliseconds from asking for an address to having it, one for each ADD. */
  readonly waits: number[];
}

export const createTally = (): Tally => ({
  calls: new Map(),
  topics: new Map(),
  allocations: 0,
  allocating: 0,
  slowPaths: 0,
  planned: 0,
  planning: 0,
  waits: [],
});

/** @param root of the keys, without a slash at its end */
export function countCall(tally: Tally, root: string, { operation, key }: MemoryCall): void {
  tally.calls.set(operation, (tally.calls.get(operation) ?? 0) + 1);
  const [first = '', second = ''] = key.slice(root.length + 1).split('/');
  const topic = `${operation} ${first === 'shared' ? second : first}`;
  tally.topics.set(topic, (tally.topics.get(topic) ?? 0) + 1);
}
