/** Marks of what is ours; docs/decisions/0071. */
import type { Bucket, Group } from '@podwire/openflow';
import { FIRST_METER, LAST_METER } from './keys.js';

/** `podw`, the upper half of our cookies. */
const MARK = '706f6477';

const inDigits = (mark: number): string => `${MARK}${mark.toString(16).padStart(8, '0')}`;

/** @param mark of the model, 32 bits */
export const cookieOf = (mark: number): string => `0x${inDigits(mark)}`;

/** Selects flows of ours. */
export const OUR_COOKIES = `0x${MARK}00000000/0xffffffff00000000`;

/** The model's mark in a cookie of ours; undefined for flows of others. */
export const readMark = (cookie: string | undefined): number | undefined =>
  isOurCookie(cookie) ? parseInt(cookie!.slice(-8), 16) : undefined;

/** The upper half begins with a digit other than 0, so a cookie of ours has all sixteen. */
export const isOurCookie = (cookie: string | undefined): boolean =>
  cookie?.length === 18 && cookie.startsWith(`0x${MARK}`);

/** The switch keeps a note, and packets pass it unchanged. */
const note = { type: 'note', bytes: inDigits(0) } as const;

/** With our mark in the first bucket. */
export const markBuckets = ([first, ...others]: readonly Bucket[]): readonly Bucket[] =>
  first === undefined ? [] : [{ ...first, actions: [...first.actions, note] }, ...others];

export const isOurGroup = ({ buckets: [first] }: Group): boolean =>
  first?.actions.some((action) => action.type === 'note' && action.bytes.startsWith(note.bytes)) === true;

export const isOurMeter = (id: number): boolean => id >= FIRST_METER && id <= LAST_METER;
