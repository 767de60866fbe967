/** Objects that need another one: it is not deleted before them. Pure. */
import { PodwireError } from '@podwire/errors';
import { type AnyObject, type ObjectReference, referenceKey, referenceOf } from '../contract.js';
import { kinds } from '../kinds/index.js';
import { findKind, groupOf } from '../registry.js';

/** True for kinds that others may need: of the rest nothing has to be looked at. */
export const mayBeUsed = (reference: ObjectReference): boolean =>
  kinds.some(
    (definition) => isSameGroup(definition, reference) && definition.needs?.[reference.kind] !== undefined,
  );

const isSameGroup = (
  one: Pick<ObjectReference, 'apiVersion'>,
  other: Pick<ObjectReference, 'apiVersion'>,
): boolean => groupOf(one) === groupOf(other);

/** How many a message names. */
const mostNamed = 3;

/**
 * @param objects all of its group, at least
 * @throws PodwireError OBJECT_IN_USE naming those that need it
 */
export function requireUnused(reference: ObjectReference, objects: Iterable<AnyObject>): void {
  const users = [...objects].filter((object) => needs(object, reference));
  if (users.length === 0) return;
  const named = users.slice(0, mostNamed).map(({ kind, metadata }) => `${kind} ${metadata.name}`);
  const more = users.length > mostNamed ? ` and ${users.length - mostNamed} more` : '';
  throw new PodwireError(
    'OBJECT_IN_USE',
    `${referenceKey(reference)} is needed by ${named.join(', ')}${more}`,
    { details: { users: users.map((user) => referenceKey(referenceOf(user))) } },
  );
}

const needs = (object: AnyObject, reference: ObjectReference): boolean =>
  isSameGroup(object, reference) && findKind(object)?.needs?.[reference.kind]?.(object) === reference.name;
