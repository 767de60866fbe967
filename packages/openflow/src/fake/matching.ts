/** Sets of packets that matches mean. */
import { canonicalMatch, listFields } from '../codec/match.js';
import type { Masked } from '../field-value.js';
import type { FieldName } from '../fields.js';
import type { Match } from '../match.js';
import { refuseUnless } from './refusal.js';

/** A match as numbers. */
export type Pattern = ReadonlyMap<FieldName, Masked>;

/** @throws Refusal when a field is unknown, since packets here do not have it */
export function patternOf(match: Match): Pattern {
  refuseUnless(match.raw === undefined, 'OFPBMC_BAD_FIELD', 'an unknown field');
  const fields = listFields(canonicalMatch(match));
  return new Map(fields.map(({ field, value, mask }) => [field.name, { value, mask }]));
}

/** True when every packet of `narrow` is one of `wide`. */
export function covers(wide: Pattern, narrow: Pattern): boolean {
  return [...wide].every(([name, { value, mask }]) => {
    const own = narrow.get(name);
    return own !== undefined && (own.mask & mask) === mask && (own.value & mask) === value;
  });
}

/** True when a packet may be one of both. */
export function overlaps(a: Pattern, b: Pattern): boolean {
  return [...a].every(([name, { value, mask }]) => {
    const other = b.get(name);
    return other === undefined || ((value ^ other.value) & mask & other.mask) === 0n;
  });
}
