import type { AnyObject, KindDefinition } from '../contract.js';

/** A kind with its type, for those who know it. */
export const defineKind = <T extends AnyObject>(definition: KindDefinition<T>): KindDefinition<T> =>
  definition;

/** A kind among others: its columns are only ever shown objects that its own schema has read. */
export const eraseKind = <T extends AnyObject>(definition: KindDefinition<T>): KindDefinition =>
  definition as unknown as KindDefinition;
