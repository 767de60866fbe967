/** Several places of one kind (files, URLs) as one source, to which places can be added and taken away while it runs. */
import type { PodSource, Snapshot, SourceName } from '../contract.js';

export interface SourceSet extends PodSource {
  origins(): readonly string[];
  /** @returns false when it is there already */
  add(origin: string): boolean;
  /** Its pods go. @returns false when there was none */
  remove(origin: string): boolean;
  /** Resolves when the place has spoken for the first time, or is none of the set (any more). */
  known(origin: string): Promise<void>;
}

interface Place {
  readonly source: PodSource;
  readonly stop: AbortController;
  latest?: Snapshot;
  /** Uids of all pods it has had since it was last complete. */
  had: ReadonlySet<string>;
  /** Those who wait for the first word. */
  readonly waiting: (() => void)[];
}

/** @param open makes the source of one place; it is run for as long as the place belongs to the set */
export function createSourceSet(
  name: SourceName,
  initial: readonly string[],
  open: (origin: string) => PodSource,
): SourceSet {
  const places = new Map<string, Place>();
  let running: Running | undefined;
  const admit = (origin: string): void => {
    const place: Place = { source: open(origin), stop: new AbortController(), had: new Set(), waiting: [] };
    places.set(origin, place);
    if (running !== undefined) runPlace(place, running);
  };
  for (const origin of initial) admit(origin);
  return {
    name,
    origins: () => [...places.keys()],
    add: (origin) => {
      if (places.has(origin)) return false;
      admit(origin);
      return true;
    },
    remove: (origin) => {
      const place = places.get(origin);
      place?.stop.abort();
      place?.waiting.splice(0).forEach((tell) => tell());
      if (place === undefined) return false;
      places.delete(origin);
      running?.emit(place.had);
      return true;
    },
    known: (origin) =>
      new Promise((resolve) => {
        const place = places.get(origin);
        if (place === undefined || (place.latest !== undefined && isWord(place.latest))) resolve();
        else place.waiting.push(resolve);
      }),
    run: (emit, signal) =>
      new Promise((resolve, reject) => {
        const failed = new AbortController();
        const fail = (error: Error): void => {
          // It is run anew, with all of its places: those that go on would be there twice.
          running = undefined;
          failed.abort(error);
          reject(error);
        };
        running = {
          emit: (gone) => emit(unite([...places.values()], gone)),
          signal: AbortSignal.any([signal, failed.signal]),
          fail,
        };
        signal.addEventListener('abort', () => resolve(), { once: true });
        for (const place of places.values()) runPlace(place, running);
        // Without any place it is known at once that there is no pod.
        if (places.size === 0) running.emit(new Set());
      }),
  };
}

interface Running {
  /** @param gone uids of pods that are not wanted any more, unless another place wants them */
  readonly emit: (gone: ReadonlySet<string>) => void;
  readonly signal: AbortSignal;
  readonly fail: (error: Error) => void;
}

function runPlace(place: Place, { emit, signal, fail }: Running): void {
  const either = AbortSignal.any([signal, place.stop.signal]);
  const store = (snapshot: Snapshot): void => {
    if (place.stop.signal.aborted) return;
    place.latest = snapshot;
    const has = snapshot.pods.map(({ metadata }) => metadata.uid);
    const gone = snapshot.incomplete === true ? new Set<string>() : place.had;
    place.had = new Set(snapshot.incomplete === true ? [...place.had, ...has] : has);
    emit(gone);
    // Afterwards: who waited finds what has been made of it.
    if (isWord(snapshot)) place.waiting.splice(0).forEach((tell) => tell());
  };
  place.source.run(store, either).catch((error: unknown) => {
    if (!either.aborted) fail(error as Error);
  });
}

/** Of a file that is only being written, perhaps, nothing is said: what is wrong with it comes in a moment. */
function isWord({ incomplete, problems }: Snapshot): boolean {
  return incomplete !== true || problems.length > 0;
}

/**
 * The latest cause is the one: the others were there before. A place that has not spoken, perhaps never will, does not keep pods from
 * taking away the pods of another one.
 */
function unite(places: readonly Place[], gone: ReadonlySet<string>): Snapshot {
  const known = places.flatMap(({ latest }) => (latest === undefined ? [] : [latest]));
  const causes = known.flatMap(({ causedAt }) => (causedAt === undefined ? [] : [causedAt]));
  return {
    pods: known.flatMap(({ pods }) => pods),
    configMaps: known.flatMap(({ configMaps }) => configMaps ?? []),
    problems: known.flatMap(({ problems }) => problems),
    ...(causes.length === 0 ? {} : { causedAt: Math.max(...causes) }),
    ...(known.length < places.length || known.some(({ incomplete }) => incomplete === true)
      ? { incomplete: true, gone: [...gone].filter((uid) => !places.some(({ had }) => had.has(uid))) }
      : {}),
  };
}
