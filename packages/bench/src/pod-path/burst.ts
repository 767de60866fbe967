/** Many pods at once: until the runtime itself says that all of their containers run. */
import { setTimeout as sleep } from 'node:timers/promises';
import { ContainerState, type CriRuntime } from '@podwire/cri';
import { placeManifest, webPod } from './manifests.js';

export interface Burst {
  readonly pods: number;
  /** Milliseconds from before the first manifest was put there until all containers ran. */
  readonly duration: number;
  readonly podsPerSecond: number;
}

/** Milliseconds between two looks; the same for all that are compared. */
const pause = 20;

/** @param manifests the directory that is watched @param prefix of the pods' names; none of them may be there yet */
export async function measureBurst(
  runtime: Pick<CriRuntime, 'listContainers'>,
  manifests: string,
  prefix: string,
  pods: number,
  signal: AbortSignal,
): Promise<Burst> {
  const before = await countRunning(runtime);
  const begin = performance.now();
  for (let index = 0; index < pods; index += 1) {
    const name = `${prefix}-${index}`;
    placeManifest(manifests, name, webPod(name));
  }
  while ((await countRunning(runtime)) < before + pods) {
    signal.throwIfAborted();
    if (performance.now() - begin > 300_000) throw new Error('not all pods run after 5 minutes');
    await sleep(pause);
  }
  const duration = performance.now() - begin;
  return { pods, duration, podsPerSecond: (pods * 1_000) / duration };
}

async function countRunning(runtime: Pick<CriRuntime, 'listContainers'>): Promise<number> {
  const state = { state: ContainerState.CONTAINER_RUNNING };
  const { containers } = await runtime.listContainers({
    filter: { id: '', state, podSandboxId: '', labelSelector: {} },
  });
  return containers.length;
}
