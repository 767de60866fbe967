/** Checks of fields that become columns. */
import * as is from '@podwire/engine/checks';
import { MARK, OWN_KEYS } from './description.js';

/** The database takes no text with a null byte. */
export const text = is.textLike((value) => /^[^\0]{1,255}$/.test(value), 'no text of 1 to 255 characters');
export const pairs = is.optional(
  is.rule(
    (value) =>
      typeof value === 'object' &&
      value !== null &&
      !Array.isArray(value) &&
      Object.values(value).every((one) => typeof one === 'string'),
    'no object with texts',
  ),
);
/** Our keys are listed in one text, and our mark is none of the caller's. */
const isFreeKey = (key: string): boolean => /^\S+$/.test(key) && key !== MARK && key !== OWN_KEYS;
export const externalIds: is.Check = (value) =>
  pairs(value) ??
  (Object.keys(value ?? {}).every(isFreeKey) ? undefined : 'a key has a blank, or is a mark of Podwire');
