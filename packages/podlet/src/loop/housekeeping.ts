import type { SourceName } from '../contract.js';
import { describeError } from '@podwire/errors';
import type { PodPreparation } from '../parts.js';
import type { PodletLog } from './dependencies.js';
import type { RuntimeView } from './runtime-view.js';
import type { WorkerPool } from './worker-pool.js';

export interface Readiness {
  isReady(source: SourceName): boolean;
  allReady(): boolean;
}

/**
 * Takes over what is in the runtime and belongs to nobody. A pod that is known to come from a source may go as soon as that
 * source is ready, whatever the others do: a dead API server does not keep static pods alive (kubernetes #88402).
 */
export function takeOverOrphans(view: RuntimeView, pool: WorkerPool, readiness: Readiness): void {
  for (const uid of [...view.uids()]) {
    const marks = pool.get(uid) === undefined ? view.marks(uid) : undefined;
    if (marks === undefined) continue;
    const allowed = marks.source === undefined ? readiness.allReady() : readiness.isReady(marks.source);
    if (allowed || readiness.allReady()) pool.takeOver(marks);
  }
}

export interface DirectoryCleaning {
  readonly preparation: PodPreparation;
  readonly view: RuntimeView;
  readonly pool: WorkerPool;
  readonly readiness: Readiness;
  readonly log: PodletLog;
}

/** Directories do not say where their pod came from, so all sources have to be ready. */
export async function discardDirectories(cleaning: DirectoryCleaning): Promise<void> {
  if (!cleaning.readiness.allReady()) return;
  try {
    for (const uid of await cleaning.preparation.list()) await discardOne(cleaning, uid);
  } catch (error) {
    cleaning.log.warn({ error: describeError(error) }, 'directories of pods could not be listed');
  }
}

async function discardOne({ preparation, view, pool, log }: DirectoryCleaning, uid: string): Promise<void> {
  const { sandboxes, containers } = view.observed(uid);
  if (pool.get(uid) !== undefined || sandboxes.length + containers.length > 0) return;
  log.info({ uid }, 'the directory of a pod that is gone is removed');
  try {
    await preparation.discard(uid);
  } catch (error) {
    log.warn(
      { uid, error: describeError(error) },
      'the directory of a pod that is gone could not be removed',
    );
  }
}
