import { hasCode } from '@podwire/linux';

/** The thing, or the link that it was on, is not there; a link that is down (ENETDOWN) has lost what was on it. */
export const isAbsent = (error: unknown): boolean =>
  hasCode(error, 'ENOENT', 'ESRCH', 'ENODEV', 'EADDRNOTAVAIL', 'ENETDOWN');

export const isConflict = (error: unknown): boolean => hasCode(error, 'EEXIST');
