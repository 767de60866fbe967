/** How a list goes away. Pure. */
import { groupBy } from '@podwire/platform';
import type { Batch, Resource } from './contract.js';
import { nameSortOf, planBatches } from './order.js';
import type { KindRegistry } from './registry.js';

/** In order of removal: each resource before those that it needs, and at last what is deferred. */
export function planRemoval(kinds: KindRegistry, resources: readonly Resource[], single = false): Batch[] {
  const dies = dyingWithin(kinds, resources);
  const reversed = planBatches(kinds, resources, single)
    .map((batch) => ({ ...batch, resources: batch.resources.toReversed() }))
    .reverse();
  const going = (removal: 'last' | 'deferred' | undefined): Batch[] =>
    reversed.flatMap((batch) => {
      const left = batch.resources.filter((one) => kinds.of(one).removal === removal && !dies(one));
      return left.length === 0 ? [] : [{ ...batch, resources: left }];
    });
  return [...joinNeighbours([...going(undefined), ...going('last')], single), ...deferred(kinds, resources)];
}

/** A resource goes with another one of the list that carries it. */
function dyingWithin(kinds: KindRegistry, resources: readonly Resource[]): (resource: Resource) => boolean {
  const carried = new Set(resources.flatMap((resource) => kinds.carriedBy(resource)));
  return (resource) => {
    const carrier = kinds.of(resource).diesWith?.(resource);
    return carrier !== undefined && carried.has(carrier);
  };
}

/** All of a backend in one call. */
function deferred(kinds: KindRegistry, resources: readonly Resource[]): Batch[] {
  const last = resources.filter((resource) => kinds.of(resource).removal === 'deferred');
  return [...groupBy(last, (resource) => kinds.of(resource).backend)].map(([backend, group]) => {
    const first = kinds.of(group[0]!);
    return { backend, name: first.batch, place: first.place(group[0]!), resources: group };
  });
}

/** Batches between which nothing is left to do are one call. */
function joinNeighbours(batches: readonly Batch[], single: boolean): Batch[] {
  if (single) return [...batches];
  const joined: Batch[] = [];
  for (const batch of batches) {
    const before = joined.at(-1);
    if (before !== undefined && nameSortOf(before) === nameSortOf(batch))
      joined[joined.length - 1] = { ...before, resources: [...before.resources, ...batch.resources] };
    else joined.push(batch);
  }
  return joined;
}
