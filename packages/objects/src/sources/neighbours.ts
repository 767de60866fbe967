/** Objects that cannot be beside another one of their kind. Pure. */
import { type AnyObject, type KindName, referenceKey, referenceOf } from '../contract.js';
import { findKind } from '../registry.js';
import { invalid } from './failures.js';

/** True for kinds whose objects may refuse each other: of the rest nothing has to be looked at. */
export const mayBeRefused = (name: KindName): boolean => findKind(name)?.refuse !== undefined;

/**
 * @param applied take the place of what is stored under their names; of two of them, the later one is wrong
 * @param stored all of their kinds, at least
 * @throws PodwireError OBJECT_INVALID naming both
 */
export function requireCompatible(applied: readonly AnyObject[], stored: readonly AnyObject[]): void {
  const places = new Map([...stored, ...applied].map((each) => [referenceKey(referenceOf(each)), each]));
  const replaced = new Set(applied.map((each) => referenceKey(referenceOf(each))));
  const there = [...places].flatMap(([key, each]) => (replaced.has(key) ? [] : [each]));
  for (const own of applied) {
    const why = there.map((other) => refuse(own, other)).find((found) => found !== undefined);
    if (why !== undefined) throw invalid(`${own.kind} ${own.metadata.name}`, why);
    there.push(own);
  }
}

const refuse = (own: AnyObject, other: AnyObject): string | undefined =>
  own.kind === other.kind && own.apiVersion === other.apiVersion
    ? findKind(own)?.refuse?.(own, other)
    : undefined;
