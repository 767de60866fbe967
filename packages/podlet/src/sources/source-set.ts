/** Several places of one kind (files, URLs) as one source, to which places can be added and taken away while it runs. */
import { onAbort } from '@podwire/platform';
import type { PodSource, Snapshot, SourceName } from '../contract.js';

interface Place {
  readonly source: PodSource;
  readonly stop: AbortController;
  latest?: Snapshot;
  /** Uids of all pods it has had since it was last complete. */
  had: ReadonlySet<string>;
  /** Callers of `known` that wait. */
  readonly waiting: (() => void)[];
}

/** The part of a set that the pod agent's API uses. */
export type SourcePlaces = Pick<SourceSet, 'origins' | 'add' | 'remove' | 'known'>;

export class SourceSet implements PodSource {
  readonly name: SourceName;
  readonly #open: (origin: string) => PodSource;
  readonly #places = new Map<string, Place>();
  #running: Running | undefined;

  /** @param open makes the source of one place; it is run for as long as the place belongs to the set */
  constructor(name: SourceName, initial: readonly string[], open: (origin: string) => PodSource) {
    this.name = name;
    this.#open = open;
    for (const origin of initial) this.add(origin);
  }

  origins(): readonly string[] {
    return [...this.#places.keys()];
  }

  /** @returns false when it is there already */
  add(origin: string): boolean {
    if (this.#places.has(origin)) return false;
    const source = this.#open(origin);
    const place: Place = { source, stop: new AbortController(), had: new Set(), waiting: [] };
    this.#places.set(origin, place);
    if (this.#running !== undefined) runPlace(place, this.#running);
    return true;
  }

  /** Its pods go. @returns false when there was none */
  remove(origin: string): boolean {
    const place = this.#places.get(origin);
    if (place === undefined) return false;
    place.stop.abort();
    for (const resolve of place.waiting.splice(0)) resolve();
    this.#places.delete(origin);
    this.#running?.emit(place.had);
    return true;
  }

  /** Resolves when the place has spoken for the first time, or is none of the set (any more). */
  known(origin: string): Promise<void> {
    return new Promise((resolve) => {
      const place = this.#places.get(origin);
      if (place === undefined || (place.latest !== undefined && isConclusive(place.latest))) resolve();
      else place.waiting.push(resolve);
    });
  }

  run(emit: (snapshot: Snapshot) => void, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const failed = new AbortController();
      const running: Running = {
        emit: (gone) => emit(unite([...this.#places.values()], gone)),
        signal: AbortSignal.any([signal, failed.signal]),
        fail: (error) => {
          // It is run anew, with all of its places: those that go on would be there twice.
          this.#running = undefined;
          failed.abort(error);
          reject(error);
        },
      };
      this.#running = running;
      onAbort(signal, () => resolve());
      for (const place of this.#places.values()) runPlace(place, running);
      // Without any place it is known at once that there is no pod.
      if (this.#places.size === 0) running.emit(new Set());
    });
  }
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
    // Afterwards: callers that waited find what has been made of it.
    if (isConclusive(snapshot)) for (const resolve of place.waiting.splice(0)) resolve();
  };
  place.source.run(store, either).catch((error: unknown) => {
    if (!either.aborted) fail(error as Error);
  });
}

/** Of a file that is only being written, perhaps, nothing is said: what is wrong with it comes in a moment. */
function isConclusive({ incomplete, problems }: Snapshot): boolean {
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
