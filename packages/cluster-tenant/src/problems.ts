/** Refusals of plans. */
import { PodwireError } from '@podwire/errors';

/** A request contradicts what is there. @param field of `object` */
export const conflict = (object: string, field: string, message: string): PodwireError =>
  new PodwireError('TENANT_CONFLICT', `${object}: ${field} ${message}`, { details: { object, field } });

export const unknownObject = (object: string): PodwireError =>
  new PodwireError('OBJECT_UNKNOWN', `there is no ${object}`, { details: { object }, action: null });

export const exhausted = (object: string, message: string, action: string): PodwireError =>
  new PodwireError('TENANT_EXHAUSTED', `${object}: ${message}`, { details: { object }, action });

/** How many users a message names. */
const mostNamed = 5;

/** @param users as people call them: `endpoint web.default-c1` */
export function inUse(object: string, users: readonly string[]): PodwireError {
  const more = users.length - mostNamed;
  const named = users.slice(0, mostNamed);
  const list = named.join(', ') + (more > 0 ? ` and ${more} more` : '');
  return new PodwireError('OBJECT_IN_USE', `${object} cannot be deleted while it is in use by ${list}`, {
    details: { object, users: named },
    action: 'Delete those first.',
  });
}
