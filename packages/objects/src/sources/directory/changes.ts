import {
  type ObjectChange,
  type ObjectListing,
  type ObjectReference,
  referenceKey,
  referenceOf,
  type StoredObject,
  type UnreadableObject,
} from '../../contract.js';

type Entry =
  | { readonly is: 'good'; readonly reference: ObjectReference; readonly stored: StoredObject }
  | { readonly is: 'bad'; readonly reference: ObjectReference; readonly unreadable: UnreadableObject };

function index({ objects, unreadable }: ObjectListing): Map<string, Entry> {
  const entries: Entry[] = [
    ...objects.map((stored): Entry => ({ is: 'good', reference: referenceOf(stored.object), stored })),
    ...unreadable.map((each): Entry => ({ is: 'bad', reference: each.reference, unreadable: each })),
  ];
  return new Map(entries.map((entry) => [referenceKey(entry.reference), entry]));
}

/** Changes that lead a reader from the first listing to the second. */
export function compareListings(before: ObjectListing, after: ObjectListing): readonly ObjectChange[] {
  const [old, now] = [index(before), index(after)];
  const gone = [...old].flatMap(([key, { reference }]): ObjectChange[] =>
    now.has(key) ? [] : [{ type: 'delete', reference, revision: after.revision }],
  );
  const put = [...now].flatMap(([key, entry]): ObjectChange[] =>
    isSame(old.get(key), entry) ? [] : [toChange(entry)],
  );
  return [...gone, ...put];
}

/** An object that was read once is the same value as long as its file is the same. */
function isSame(before: Entry | undefined, after: Entry): boolean {
  if (before?.is === 'good' && after.is === 'good') return before.stored === after.stored;
  if (before?.is === 'bad' && after.is === 'bad')
    return before.unreadable.problems === after.unreadable.problems;
  return false;
}

const toChange = (entry: Entry): ObjectChange =>
  entry.is === 'good'
    ? { type: 'put', stored: entry.stored }
    : { type: 'unreadable', unreadable: entry.unreadable };
