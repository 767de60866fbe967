import type { SourceName } from './contract.js';
import type { PodPreparation } from './parts.js';
import type { PodletLog } from './sync/sync-context.js';
import type { RuntimeView } from './runtime/runtime-view.js';
import type { PodWorkers } from './workers/pod-workers.js';

export interface Readiness {
  isReady(source: SourceName): boolean;
  allReady(): boolean;
}

/**
 * Adopts pods that are in the runtime and in no source. A pod that is known to come from a source may go as soon as that
 * source is ready, whatever the others do: a dead API server does not keep static pods alive (kubernetes #88402).
 */
export function adoptOrphans(view: RuntimeView, workers: PodWorkers, readiness: Readiness): void {
  for (const uid of [...view.uids()]) {
    const labels = workers.get(uid) === undefined ? view.labels(uid) : undefined;
    if (labels === undefined) continue;
    const allowed = labels.source === undefined ? readiness.allReady() : readiness.isReady(labels.source);
    if (allowed || readiness.allReady()) workers.adoptOrphan(labels);
  }
}

export interface DirectoryCleaning {
  readonly preparation: PodPreparation;
  readonly view: RuntimeView;
  readonly workers: PodWorkers;
  readonly readiness: Readiness;
  readonly log: PodletLog;
}

/** Directories do not say where their pod came from, so all sources have to be ready. */
export async function discardDirectories(cleaning: DirectoryCleaning): Promise<void> {
  if (!cleaning.readiness.allReady()) return;
  try {
    for (const uid of await cleaning.preparation.list()) await discardOne(cleaning, uid);
  } catch (error) {
    cleaning.log.warn({ err: error }, 'could not list pod directories');
  }
}

async function discardOne(
  { preparation, view, workers, log }: DirectoryCleaning,
  uid: string,
): Promise<void> {
  const { sandboxes, containers } = view.observed(uid);
  if (workers.get(uid) !== undefined || sandboxes.length + containers.length > 0) return;
  log.info({ uid }, 'removing the directory of a deleted pod');
  try {
    await preparation.discard(uid);
  } catch (error) {
    log.warn({ uid, err: error }, 'could not remove the directory of a deleted pod');
  }
}
