/**
 * Pods of a manifest file, or of all manifest files of a directory. inotify tells of changes within milliseconds; every
 * 20 seconds everything is looked at anyway, since not every file system has inotify.
 */
import nodeFs from 'node:fs';
import path from 'node:path';
import type { Clock, PodSource, Snapshot, SourceProblem } from '../contract.js';
import { type Bell, createBell, keepRinging, waitUntilQuiet } from './bell.js';
import { type FileListing, type ListingFiles, listManifests } from './file-listing.js';
import {
  type FileState,
  isBadOnlyNow,
  isPending,
  lookAtFile,
  patienceWithBad,
  patienceWithGone,
  problemOf,
  type ReadFiles,
  stampGrain,
} from './file-state.js';
import { isSameSnapshot, uniteContents } from './unite-contents.js';
import { createDirectoryWatcher, type DirectoryWatcher, type WatchFiles } from './watcher.js';

export type SourceFiles = ListingFiles & ReadFiles & WatchFiles;

export interface FileSourceOptions {
  /** A file or a directory. It need not be there yet. */
  readonly path: string;
  /** Name of the node. */
  readonly node: string;
  /** Whether `-NODE` is put behind the names of pods, as kubelet does; `none`. */
  readonly nameSuffix?: 'node' | 'none';
  readonly clock: Clock;
  /** Milliseconds between two looks when nothing is heard; 20000. */
  readonly pollEvery?: number;
  readonly fs?: SourceFiles;
}

const defaultPoll = 20_000;

export function createFileSource(options: FileSourceOptions): PodSource {
  const { clock, fs = nodeFs, pollEvery = defaultPoll } = options;
  return {
    name: 'file',
    async run(emit, signal) {
      const bell = createBell(clock);
      const watcher = createDirectoryWatcher(fs, bell.ring);
      const folder = createFolder(options, fs, watcher);
      keepRinging(bell, pollEvery, clock, signal);
      try {
        for (;;) {
          if (signal.aborted) return;
          const { snapshot, lookAgainIn } = folder.look(bell.take());
          if (snapshot !== undefined) emit(snapshot);
          if (lookAgainIn !== undefined) ringLater(bell, lookAgainIn, clock, signal);
          await bell.rung(signal);
          await waitUntilQuiet(bell, clock, signal);
        }
      } catch (error) {
        if (!signal.aborted) throw error;
      } finally {
        watcher.close();
      }
    },
  };
}

function ringLater(bell: Bell, milliseconds: number, clock: Clock, signal: AbortSignal): void {
  clock.sleep(milliseconds, signal).then(bell.ring, () => undefined);
}

interface Look {
  /** Absent when nothing is new. */
  readonly snapshot?: Snapshot;
  /** Milliseconds. */
  readonly lookAgainIn?: number;
}

interface Folder {
  /** @param heardAt when somebody said that something has changed, milliseconds since the epoch */
  look(heardAt: number | undefined): Look;
}

function createFolder(options: FileSourceOptions, fs: SourceFiles, watcher: DirectoryWatcher): Folder {
  const { node, nameSuffix = 'none', clock } = options;
  const target = path.resolve(options.path);
  let states: ReadonlyMap<string, FileState> = new Map();
  let latest: Snapshot | undefined;
  return {
    look(heardAt) {
      const listing = listAndWatch(target, fs, watcher);
      const before = states;
      if (listing.state !== 'unreadable') {
        const look = (file: string): FileState =>
          lookAtFile(file, before.get(file), { node, nameSuffix }, clock, fs);
        states = advance(before, listing, look, clock.elapsed());
      }
      const now = clock.elapsed();
      const snapshot = describe(target, listing, [...states.values()], now, watcher);
      const again = isAnyPending(states, now)
        ? { lookAgainIn: Math.min(patienceWithBad, patienceWithGone) }
        : {};
      if (latest !== undefined && isSameSnapshot(latest, snapshot)) return again;
      const causedAt = latest === undefined ? undefined : causeOf(before, states, heardAt);
      latest = snapshot;
      return { snapshot: { ...snapshot, ...(causedAt === undefined ? {} : { causedAt }) }, ...again };
    },
  };
}

/** What happens between listing and watching would be missed, so a new watch means another listing. */
function listAndWatch(target: string, fs: SourceFiles, watcher: DirectoryWatcher): FileListing {
  const mostRounds = 4;
  for (let round = 1; ; round++) {
    const listing = listManifests(target, fs);
    if (!watcher.set(listing.watched) || round === mostRounds) return listing;
  }
}

/** States of the files that are there, and for a moment of those that are gone. */
function advance(
  before: ReadonlyMap<string, FileState>,
  listing: FileListing,
  look: (file: string) => FileState,
  now: number,
): ReadonlyMap<string, FileState> {
  const present = new Set(listing.files);
  const gone = [...before.values()]
    .filter(({ file }) => !present.has(file))
    .map((state): FileState => ({ ...state, goneSince: state.goneSince ?? now }))
    .filter((state) => state.content !== undefined && isPending(state, now));
  // The gone ones last: a file that took over a pod of theirs, for instance after a rename, has the first word.
  return new Map([...listing.files.map(look), ...gone].map((state) => [state.file, state]));
}

function isAnyPending(states: ReadonlyMap<string, FileState>, now: number): boolean {
  return [...states.values()].some((state) => isPending(state, now));
}

function describe(
  target: string,
  listing: FileListing,
  states: readonly FileState[],
  now: number,
  watcher: DirectoryWatcher,
): Snapshot {
  const { pods, configMaps, problems } = uniteContents(states);
  const said = states.filter((state) => !isBadOnlyNow(state, now)).flatMap((state) => state.problems);
  const isUnknown = ({ content }: FileState): boolean => content === undefined;
  const incomplete =
    listing.state === 'unreadable' ||
    (listing.state === 'file' && states.some(isUnknown)) ||
    states.some((state) => isUnknown(state) && isPending(state, now));
  return {
    pods,
    configMaps,
    problems: [...said, ...problems, ...ownProblems(target, listing, states), ...watchProblems(watcher)],
    ...(incomplete ? { incomplete } : {}),
  };
}

function ownProblems(target: string, listing: FileListing, states: readonly FileState[]): SourceProblem[] {
  if (listing.state === 'unreadable') return [problemOf(target, `cannot be read: ${listing.reason}`)];
  // While files are still expected back, so is what they were in.
  if (listing.state === 'missing' && states.length === 0) return [problemOf(target, 'does not exist')];
  return [];
}

function watchProblems(watcher: DirectoryWatcher): SourceProblem[] {
  return watcher
    .failures()
    .map(({ directory, reason }) =>
      problemOf(directory, `cannot be watched, changes are seen late: ${reason}`),
    );
}

/**
 * When it was heard of, which inotify does at once; the file's own time only where that is much earlier (found by polling),
 * since file systems stamp with a clock that stands still for up to 10 ms.
 */
function causeOf(
  before: ReadonlyMap<string, FileState>,
  after: ReadonlyMap<string, FileState>,
  heardAt: number | undefined,
): number | undefined {
  const times = [...after.values()].flatMap(({ file, content, changedAt }) =>
    content !== before.get(file)?.content && changedAt !== undefined ? [changedAt] : [],
  );
  if (times.length === 0) return heardAt;
  const changedAt = Math.max(...times);
  return heardAt !== undefined && heardAt - changedAt < stampGrain ? heardAt : changedAt;
}
