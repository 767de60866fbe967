/** Changes that are rendered and not in the kernel yet. */
import type { Resource } from '@podwire/engine';
import type { RenderedDelta } from '@podwire/network-policy';

export const nothingRendered: RenderedDelta = { add: [], remove: [] };

export const isNothing = ({ add, remove }: RenderedDelta): boolean => add.length + remove.length === 0;

/** One delta that does what both do, one after the other. What comes and goes meanwhile is removed, which is no error. */
export function joinDeltas(
  first: RenderedDelta,
  second: RenderedDelta,
  keyOf: (resource: Resource) => string,
): RenderedDelta {
  if (isNothing(first)) return second;
  if (isNothing(second)) return first;
  const [added, removed] = [second.add, second.remove].map((all) => new Set(all.map(keyOf)));
  return {
    add: [...first.add.filter((one) => !added!.has(keyOf(one)) && !removed!.has(keyOf(one))), ...second.add],
    remove: [
      ...second.remove,
      ...first.remove.filter((one) => !added!.has(keyOf(one)) && !removed!.has(keyOf(one))),
    ],
  };
}
