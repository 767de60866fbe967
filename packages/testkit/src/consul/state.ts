/**
 * State of a Consul server, as its HTTP API documentation describes it: the KV store, tombstones, sessions, and one
 * index that grows with every write. Written for tests from that documentation; it is not Consul.
 */
import { compact } from '@podwire/platform';

export interface Entry {
  readonly Key: string;
  /** Base64. */
  readonly Value: string;
  readonly Flags: number;
  readonly LockIndex: number;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
  readonly Session?: string;
}

export interface Session {
  readonly ID: string;
  readonly Name: string;
  readonly Node: string;
  readonly Behavior: 'release' | 'delete';
  /** As it was asked for: `10s`. */
  readonly TTL: string;
  readonly LockDelay: number;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
}

/** Replaced as a whole by every write, so that a transaction is rolled back by being forgotten. */
export interface Contents {
  readonly index: number;
  /** That of the last write to the KV store: sessions do not count. */
  readonly kvIndex: number;
  readonly entries: ReadonlyMap<string, Entry>;
  /** Key to the index at which it was deleted. */
  readonly tombstones: ReadonlyMap<string, number>;
  readonly sessions: ReadonlyMap<string, Session>;
}

/** Index 1 is that of an empty KV store. */
export const emptyContents: Contents = {
  index: 1,
  kvIndex: 1,
  entries: new Map(),
  tombstones: new Map(),
  sessions: new Map(),
};

/** The next contents while they are made. */
export interface Draft {
  readonly index: number;
  kvIndex: number;
  readonly entries: Map<string, Entry>;
  readonly tombstones: Map<string, number>;
  readonly sessions: Map<string, Session>;
}

export const draftOf = ({ index, kvIndex, entries, tombstones, sessions }: Contents): Draft => ({
  index: index + 1,
  kvIndex,
  entries: new Map(entries),
  tombstones: new Map(tombstones),
  sessions: new Map(sessions),
});

export interface Kept {
  readonly Key: string;
  readonly Value: string;
  readonly Flags?: number;
}

/** `set`: the session stays. An entry that would be the same is not written, and keeps its index. */
export function setEntry(draft: Draft, kept: Kept): Entry {
  const existing = draft.entries.get(kept.Key);
  return store(draft, kept, { session: existing?.Session, lockIndex: existing?.LockIndex ?? 0 });
}

/** @returns undefined when another session has it. @throws Error when the session does not exist */
export function lockEntry(draft: Draft, kept: Kept, session: string): Entry | undefined {
  if (!draft.sessions.has(session)) throw new Error(`invalid session ${JSON.stringify(session)}`);
  const existing = draft.entries.get(kept.Key);
  if (existing?.Session !== undefined && existing.Session !== session) return undefined;
  const isHeld = existing?.Session === session;
  return store(draft, kept, { session, lockIndex: (existing?.LockIndex ?? 0) + (isHeld ? 0 : 1) });
}

/** @returns undefined when the session does not have it */
export function unlockEntry(draft: Draft, kept: Kept, session: string): Entry | undefined {
  const existing = draft.entries.get(kept.Key);
  if (existing === undefined || existing.Session !== session) return undefined;
  return store(draft, kept, { session: undefined, lockIndex: existing.LockIndex });
}

function store(
  draft: Draft,
  { Key, Value, Flags = 0 }: Kept,
  { session, lockIndex }: { readonly session: string | undefined; readonly lockIndex: number },
): Entry {
  const existing = draft.entries.get(Key);
  const entry: Entry = {
    Key,
    Value,
    Flags,
    LockIndex: lockIndex,
    CreateIndex: existing?.CreateIndex ?? draft.index,
    ModifyIndex: draft.index,
    ...compact({ Session: session }),
  };
  if (existing !== undefined && isSame(existing, entry)) return existing;
  draft.entries.set(Key, entry);
  draft.kvIndex = draft.index;
  return entry;
}

const isSame = (a: Entry, b: Entry): boolean =>
  a.Value === b.Value && a.Flags === b.Flags && a.Session === b.Session && a.LockIndex === b.LockIndex;

export function deleteEntry(draft: Draft, key: string): void {
  if (!draft.entries.delete(key)) return;
  draft.tombstones.set(key, draft.index);
  draft.kvIndex = draft.index;
}

/** The session goes, and what it holds is let go or deleted. */
export function endSession(draft: Draft, id: string): void {
  const session = draft.sessions.get(id);
  draft.sessions.delete(id);
  for (const entry of [...draft.entries.values()].filter((each) => each.Session === id))
    if (session?.Behavior === 'delete') deleteEntry(draft, entry.Key);
    else store(draft, entry, { session: undefined, lockIndex: entry.LockIndex });
}

/**
 * Entries whose keys begin so, and the index to wait with: the greatest of them and of tombstones below; that of the whole when
 * there is neither, or for an empty prefix.
 */
export function listEntries(contents: Contents, prefix: string): { index: number; entries: Entry[] } {
  const entries = [...contents.entries.values()]
    .filter(({ Key }) => Key.startsWith(prefix))
    .toSorted((a, b) => (a.Key < b.Key ? -1 : 1));
  const stones = [...contents.tombstones].filter(([key]) => key.startsWith(prefix));
  const indexes = [...entries.map(({ ModifyIndex }) => ModifyIndex), ...stones.map(([, index]) => index)];
  const below = prefix === '' ? 0 : indexes.reduce((most, each) => Math.max(most, each), 0);
  return { index: below === 0 ? contents.kvIndex : below, entries };
}
