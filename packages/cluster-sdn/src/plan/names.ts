/** Objects by their names, in an order that is the same on every machine. */
import type { StoredObject } from '@podwire/objects';

export const compareNames = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

export const byName = <T extends StoredObject>(stored: readonly T[]): ReadonlyMap<string, T> =>
  new Map(
    stored
      .map((each) => [each.object.metadata.name, each] as const)
      .toSorted(([a], [b]) => compareNames(a, b)),
  );
