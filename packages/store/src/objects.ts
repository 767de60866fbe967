/**
 * Objects in a store: JSON with a kind and a schema version. A reader that meets an older version brings it up to date in
 * memory (the store keeps the old text until somebody writes the object again); one that meets a newer version refuses.
 */
import type { z } from 'zod';

export interface ObjectKind<T> {
  /** `pool`, `block`, … */
  readonly name: string;
  /** The version that is written. */
  readonly version: number;
  readonly schema: z.ZodType<T>;
  /** `migrations[n]` turns what version n wrote into what version n + 1 would have. */
  readonly migrations: Readonly<
    Record<number, (old: Readonly<Record<string, unknown>>) => Record<string, unknown>>
  >;
}
