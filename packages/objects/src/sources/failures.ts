import { describeError, PodwireError } from '@podwire/errors';
import { formatPath } from '@podwire/apimachinery';
import { type AnyObject, type ObjectReference, referenceKey, type Revision } from '../contract.js';
import { checkObject } from '../reading/check-object.js';

export type Expectation = 'absent' | Revision | undefined;

/** @throws PodwireError OBJECT_CONFLICT when the object is not what the writer has read */
export function requireExpected(
  reference: ObjectReference,
  expect: Expectation,
  found: Revision | undefined,
): void {
  const isMet = expect === undefined || (expect === 'absent' ? found === undefined : found === expect);
  if (!isMet) throw conflict(reference, expect, found);
}

/** A lost update: another client has written in between. */
export function conflict(
  reference: ObjectReference,
  expect: Expectation,
  found: Revision | undefined,
): PodwireError {
  const state = found === undefined ? 'it is gone now' : `it has revision ${found} now`;
  const wanted = expect === 'absent' ? 'no such object' : `revision ${expect}`;
  return new PodwireError(
    'OBJECT_CONFLICT',
    `${referenceKey(reference)}: another writer was faster: expected was ${wanted}, and ${state}`,
  );
}

/** @throws PodwireError OBJECT_INVALID with each field that is wrong */
export function requireValid(object: AnyObject): AnyObject {
  const checked = checkObject(object, { keepStatus: true });
  if (checked.ok) return checked.object;
  const problems = checked.problems.map(({ path, message }) => `${formatPath(path)}: ${message}`);
  throw invalid(`${object.kind} ${object.metadata?.name}`, problems.join('; '));
}

export const invalid = (what: string, why: string, cause?: unknown): PodwireError =>
  new PodwireError('OBJECT_INVALID', `${what}: ${why}`, cause === undefined ? {} : { cause });

export const messageOf = (error: unknown): string => describeError(error);
