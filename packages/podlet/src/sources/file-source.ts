/**
 * Pods of a manifest file, or of all manifest files of a directory. inotify tells of changes within milliseconds; every
 * 20 seconds everything is looked at anyway, since not every file system has inotify.
 */
import nodeFs from 'node:fs';
import path from 'node:path';
import { describeError } from '@podwire/errors';
import { compact } from '@podwire/platform';
import type { Clock, PodSource, Snapshot, SourceProblem } from '../contract.js';
import { Trigger } from './trigger.js';
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
import { DirectoryWatcher, type WatchFiles } from './watcher.js';

export type SourceFiles = ListingFiles & ReadFiles & WatchFiles;

export interface FileSourceOptions {
  /** A file or a directory. It need not be there yet. */
  readonly path: string;
  /** Name of the node. */
  readonly node: string;
  /** `node` appends `-NODE` to the names of pods, as kubelet does; default `none`. */
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
      const trigger = new Trigger(clock);
      const watcher = new DirectoryWatcher(fs, trigger.fire);
      const folder = new Folder(options, fs, watcher);
      try {
        while (!signal.aborted) {
          const { snapshot, lookAgainIn = pollEvery } = folder.look(trigger.take());
          if (snapshot !== undefined) emit(snapshot);
          // Afterwards: no pod waits for the disk.
          folder.keep();
          await trigger.settled(Math.min(lookAgainIn, pollEvery), signal);
        }
      } catch (error) {
        if (!signal.aborted) throw error;
      } finally {
        watcher.close();
      }
    },
  };
}

interface Look {
  /** Absent when nothing is new. */
  readonly snapshot?: Snapshot;
  /** Milliseconds. */
  readonly lookAgainIn?: number;
}

class Folder {
  readonly #options: FileSourceOptions;
  readonly #fs: SourceFiles;
  readonly #watcher: DirectoryWatcher;
  readonly #target: string;
  readonly #kept: Map<string, string>;
  #states: ReadonlyMap<string, FileState> = new Map();
  #latest: Snapshot | undefined;
  #isKnown = false;
  #trouble: readonly SourceProblem[] = [];

  constructor(options: FileSourceOptions, fs: SourceFiles, watcher: DirectoryWatcher) {
    this.#options = options;
    this.#fs = fs;
    this.#watcher = watcher;
    this.#target = path.resolve(options.path);
    this.#kept = new Map(options.lastGood?.load(this.#target));
  }

  /** @param heardAt when the change was reported, milliseconds since the epoch */
  look(heardAt: number | undefined): Look {
    const { node, nameSuffix = 'none', clock } = this.#options;
    const listing = listAndWatch(this.#target, this.#fs, this.#watcher);
    const before = this.#states;
    // Read once: a file whose patience ended between two readings would be kept, and never looked at again.
    const now = clock.elapsed();
    if (listing.state !== 'unreadable') {
      const place = { node, nameSuffix };
      const look = (file: string): FileState =>
        withKept(lookAtFile(file, before.get(file), place, clock, this.#fs), this.#kept.get(file), place);
      this.#isKnown = true;
      this.#states = advance(before, listing, look, now);
    }
    const states = [...this.#states.values()];
    const described = describe(this.#target, listing, states, now, this.#watcher);
    const snapshot = { ...described, problems: [...described.problems, ...this.#trouble] };
    const isPendingYet = states.some((state) => isPending(state, now));
    const again = isPendingYet ? { lookAgainIn: Math.min(patienceWithBad, patienceWithGone) } : {};
    if (this.#latest !== undefined && isSameSnapshot(this.#latest, snapshot)) return again;
    const causedAt = this.#latest === undefined ? undefined : causeOf(before, this.#states, heardAt);
    this.#latest = snapshot;
    return { snapshot: { ...snapshot, ...compact({ causedAt }) }, ...again };
  }

  /** Writes down what is good now, and forgets files that are gone. */
  keep(): void {
    const { lastGood } = this.#options;
    if (lastGood === undefined || !this.#isKnown) return;
    try {
      keepGood(lastGood, this.#kept, this.#states);
      this.#trouble = [];
    } catch (error) {
      this.#trouble = [problemOf(this.#target, `cannot be kept for the next start: ${describeError(error)}`)];
    }
  }
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

/** A change between listing and watching would be missed, so a new watch means another listing. */
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
