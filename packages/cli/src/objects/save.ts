import { PodwireError } from '@podwire/errors';
import {
  mayBeRefused,
  type ObjectReference,
  type ObjectSource,
  type ReadObject,
  referenceKey,
  referenceOf,
  requireCompatible,
  type Revision,
  type Saved,
} from '@podwire/objects';
import { forEachLimited, groupBy } from '@podwire/platform';

export interface Applied extends Saved {
  readonly reference: ObjectReference;
}

/** From here on one list is faster than a question for each. */
const manyObjects = 64;
/** Writes under way at once. */
const atOnce = 16;

/**
 * Saves each object, expecting what was there when this began: an update that another writer made in between is not lost.
 * @throws PodwireError OBJECT_CONFLICT naming the object, and how many were saved before; OBJECT_INVALID for an object that cannot
 *   be beside another one: then nothing was saved
 */
export async function saveAll(
  source: ObjectSource,
  objects: readonly ReadObject[],
  dryRun: boolean,
  signal: AbortSignal,
): Promise<readonly Applied[]> {
  await checkNeighbours(source, objects, signal);
  const revisionOf = await readRevisions(source, objects, signal);
  const applied = new Map<ReadObject, Applied>();
  const save = async (each: ReadObject): Promise<void> => {
    const reference = referenceOf(each.object);
    const expect = (await revisionOf(reference)) ?? 'absent';
    const saved = await source.save(each.object, each.origin, { expect, dryRun, signal });
    applied.set(each, { ...saved, reference });
  };
  try {
    for (const group of groupByKind(objects)) await forEachLimited(group, atOnce, save);
  } catch (error) {
    if (!(error instanceof PodwireError) || applied.size === 0) throw error;
    const message = `${error.message} (${applied.size} of ${objects.length} objects were applied before)`;
    throw new PodwireError(error.code, message, { cause: error.cause, details: error.details });
  }
  return objects.flatMap((each) => applied.get(each) ?? []);
}

async function checkNeighbours(
  source: ObjectSource,
  objects: readonly ReadObject[],
  signal: AbortSignal,
): Promise<void> {
  const own = objects.map(({ object }) => object).filter(mayBeRefused);
  if (own.length === 0) return;
  const { objects: stored } = await source.list({ kinds: own, signal });
  requireCompatible(
    own,
    stored.map(({ object }) => object),
  );
}

/** Namespaces are there before what lies in them. */
const groupByKind = (objects: readonly ReadObject[]): Iterable<readonly ReadObject[]> =>
  groupBy(objects, ({ object: { apiVersion, kind } }) => `${apiVersion} ${kind}`).values();

type RevisionOf = (reference: ObjectReference) => Promise<Revision | undefined>;

async function readRevisions(
  source: ObjectSource,
  objects: readonly ReadObject[],
  signal: AbortSignal,
): Promise<RevisionOf> {
  if (objects.length < manyObjects)
    return async (reference) => {
      try {
        return (await source.get(reference, { signal }))?.revision;
      } catch (error) {
        // The stored object cannot be read: this one replaces it.
        if (!(error instanceof PodwireError) || error.code !== 'OBJECT_INVALID') throw error;
        return (await listRevisions(source, signal)).get(referenceKey(reference));
      }
    };
  const known = await listRevisions(source, signal);
  return (reference) => Promise.resolve(known.get(referenceKey(reference)));
}

async function listRevisions(
  source: ObjectSource,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Revision>> {
  const { objects, unreadable } = await source.list({ signal });
  return new Map([
    ...unreadable.map(({ reference, revision }) => [referenceKey(reference), revision] as const),
    ...objects.map(({ object, revision }) => [referenceKey(referenceOf(object)), revision] as const),
  ]);
}
