import type { Batch, Resource } from './contract.js';
import type { KindRegistry } from './registry.js';

/** Cuts a list into batches, in order. `single` gives every resource a batch of its own: fault tests die in between. */
export function planBatches(kinds: KindRegistry, resources: readonly Resource[], single = false): Batch[] {
  const batches: (Batch & { resources: Resource[] })[] = [];
  for (const resource of resources) {
    const kind = kinds.of(resource);
    const place = kind.place(resource);
    const last = batches.at(-1);
    const joins =
      !single && last?.backend === kind.backend && last.name === kind.batch && last.place === place;
    if (joins) last.resources.push(resource);
    else batches.push({ backend: kind.backend, name: kind.batch, place, resources: [resource] });
  }
  return batches;
}

/** How a list goes away. */
export interface Removal {
  /** In order of removal. */
  readonly explicit: readonly Resource[];
  /** After all others, together; what they carry goes with them. */
  readonly deferred: readonly Resource[];
}

/** Plans the removal of a list: in reverse, without what dies with something else of the list or always stays. */
export function planRemoval(kinds: KindRegistry, resources: readonly Resource[]): Removal {
  const withRemoval = (removal: 'last' | 'deferred' | undefined): Resource[] =>
    resources.filter((resource) => kinds.of(resource).removal === removal);
  const deferred = withRemoval('deferred');
  const carried = new Set(
    resources.flatMap((resource) => {
      const kind = kinds.of(resource);
      return kind.carries?.(resource) ?? [kind.key(resource)];
    }),
  );
  const dies = (resource: Resource): boolean => {
    const carrier = kinds.of(resource).diesWith?.(resource);
    return carrier !== undefined && carried.has(carrier);
  };
  const explicit = [...withRemoval(undefined).reverse(), ...withRemoval('last').reverse()];
  return { explicit: explicit.filter((resource) => !dies(resource)), deferred };
}
