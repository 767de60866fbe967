/** Manifests that are given or dropped anew: what was said of their pods by name is over. */
import { redactUrl } from '@podwire/errors';
import { onAbort, withDeadline } from '@podwire/platform';
import type { PodView } from '../contract.js';
import type { Hold } from '../sources/held-pods.js';
import { stopped } from '../lifecycle/stopped.js';
import type { PodletApi } from './api.js';
import type { SourcesBody } from './requests.js';

/** Milliseconds: a stopped pod has nothing left that must be ended. */
const renewalMs = 10_000;

/** Resolves when pods that were stopped have begun anew: until then they look as if they had failed. */
export async function releaseAt(api: PodletApi, places: SourcesBody, signal: AbortSignal): Promise<void> {
  const released = api.held?.release(isAt(places)) ?? [];
  const isOld = (pod: PodView): boolean =>
    pod.status.reason === stopped.reason &&
    released.some(({ namespace, name }) => pod.namespace === namespace && pod.name === name);
  if (!api.pods().some(isOld)) return;
  await withDeadline(signal, renewalMs, (over) => untilNone(api, isOld, over));
}

function isAt({ files, urls }: SourcesBody): (hold: Hold) => boolean {
  const places = [...files, ...urls.map(redactUrl)];
  return ({ origin }) =>
    places.some((place) => origin === place || origin.startsWith(`${place.replace(/\/$/, '')}/`));
}

async function untilNone(api: PodletApi, which: (pod: PodView) => boolean, over: AbortSignal): Promise<void> {
  const cleanups: (() => void)[] = [];
  try {
    await new Promise<void>((resolve) => {
      const look = (): void => {
        if (!api.pods().some(which)) resolve();
      };
      // Later: what tells of the change has not finished it yet.
      cleanups.push(api.subscribe(() => queueMicrotask(look)));
      cleanups.push(onAbort(over, () => resolve()));
    });
  } finally {
    for (const cleanUp of cleanups) cleanUp();
  }
}
