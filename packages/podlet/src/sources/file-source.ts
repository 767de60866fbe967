/**
 * Pods of a manifest file, or of all manifest files of a directory. inotify tells of changes within milliseconds; every
 * 20 seconds everything is looked at anyway, since not every file system has inotify.
 */
import nodeFs from 'node:fs';
import path from 'node:path';
import { describeError } from '@podwire/errors';
import { compact } from '@podwire/platform';
import type { Clock, PodSource, Snapshot, SourceProblem } from '../contract.js';
import { type Trigger, createTrigger, fireEvery, debounce } from './trigger.js';
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
import { type LocalPlace, readManifests } from '@podwire/pod-spec';
import type { LastGood } from './last-good.js';
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
  /** Keeps what was good for a start with a file that is broken; only this run knows it when absent. */
  readonly lastGood?: LastGood;
}

const defaultPoll = 20_000;

export function createFileSource(options: FileSourceOptions): PodSource {
  const { clock, fs = nodeFs, pollEvery = defaultPoll } = options;
  return {
    name: 'file',
    async run(emit, signal) {
      const trigger = createTrigger(clock);
      const watcher = createDirectoryWatcher(fs, trigger.fire);
      const folder = createFolder(options, fs, watcher);
      fireEvery(trigger, pollEvery, clock, signal);
      try {
        for (;;) {
          if (signal.aborted) return;
          const { snapshot, lookAgainIn } = folder.look(trigger.take());
          if (snapshot !== undefined) emit(snapshot);
          // Afterwards: no pod waits for the disk.
          folder.keep();
          if (lookAgainIn !== undefined) ringLater(trigger, lookAgainIn, clock, signal);
          await trigger.fired(signal);
          await debounce(trigger, clock, signal);
        }
      } catch (error) {
        if (!signal.aborted) throw error;
      } finally {
        watcher.close();
      }
    },
  };
}

function ringLater(trigger: Trigger, milliseconds: number, clock: Clock, signal: AbortSignal): void {
  clock.sleep(milliseconds, signal).then(trigger.fire, () => undefined);
}

interface Look {
  /** Absent when nothing is new. */
  readonly snapshot?: Snapshot;
  /** Milliseconds. */
  readonly lookAgainIn?: number;
}

interface Folder {
  /** @param heardAt when the change was reported, milliseconds since the epoch */
  look(heardAt: number | undefined): Look;
  /** Writes down what is good now, and forgets files that are gone. */
  keep(): void;
}

function createFolder(options: FileSourceOptions, fs: SourceFiles, watcher: DirectoryWatcher): Folder {
  const { node, nameSuffix = 'none', clock, lastGood } = options;
  const target = path.resolve(options.path);
  let states: ReadonlyMap<string, FileState> = new Map();
  let latest: Snapshot | undefined;
  let isKnown = false;
  let trouble: readonly SourceProblem[] = [];
  const kept = new Map(lastGood?.load(target));
  return {
    look(heardAt) {
      const listing = listAndWatch(target, fs, watcher);
      const before = states;
      // Read once: a file whose patience ended between two readings would be kept, and never looked at again.
      const now = clock.elapsed();
      if (listing.state !== 'unreadable') {
        const place = { node, nameSuffix };
        const look = (file: string): FileState =>
          withKept(lookAtFile(file, before.get(file), place, clock, fs), kept.get(file), place);
        isKnown = true;
        states = advance(before, listing, look, now);
      }
      const described = describe(target, listing, [...states.values()], now, watcher);
      const snapshot = { ...described, problems: [...described.problems, ...trouble] };
      const again = isAnyPending(states, now)
        ? { lookAgainIn: Math.min(patienceWithBad, patienceWithGone) }
        : {};
      if (latest !== undefined && isSameSnapshot(latest, snapshot)) return again;
      const causedAt = latest === undefined ? undefined : causeOf(before, states, heardAt);
      latest = snapshot;
      return { snapshot: { ...snapshot, ...compact({ causedAt }) }, ...again };
    },
    keep() {
      if (lastGood === undefined || !isKnown) return;
      try {
        keepGood(lastGood, kept, states);
        trouble = [];
      } catch (error) {
        trouble = [problemOf(target, `cannot be kept for the next start: ${describeError(error)}`)];
      }
    },
  };
}

/** A file that is broken at the start has what was good of it before. */
function withKept(
  state: FileState,
  text: string | undefined,
  place: Omit<LocalPlace, 'origin' | 'source'>,
): FileState {
  if (state.content !== undefined || text === undefined) return state;
  const content = readManifests(text, { ...place, source: 'file', origin: state.file });
  return content.problems.length > 0 ? state : { ...state, content };
}

function keepGood(
  lastGood: LastGood,
  kept: Map<string, string>,
  states: ReadonlyMap<string, FileState>,
): void {
  for (const { file, text, problems } of states.values()) {
    if (problems.length > 0 || text === undefined || kept.get(file) === text) continue;
    lastGood.save(file, text);
    kept.set(file, text);
  }
  for (const file of kept.keys()) {
    if (states.has(file)) continue;
    lastGood.remove(file);
    kept.delete(file);
  }
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
