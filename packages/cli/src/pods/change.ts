/** Verbs that change pods by name, and show when it is done: stop, restart. */
import { withDeadline } from '@podwire/platform';
import type { LocalApi } from '@podwire/local-api';
import type { PodView } from '@podwire/podlet';
import type { Command } from 'commander';
import { optionsOf, outputOf } from '../command.js';
import { withInterrupt } from '../interrupt.js';
import { exitCodes, type Io, printable, writeJson } from '../io.js';
import { type Progress, quietProgress, startProgress } from '../render/progress.js';
import { followPods } from './follow.js';
import { locateDirectory, openPodApi, placesIn } from './locate.js';
import { choosePod, fullName, type PodsView } from './names.js';

export interface PodVerb {
  /** `stopping` */
  readonly doing: string;
  /** `stopped` */
  readonly done: string;
  /** Asks the pod agent. @returns whether it is done, from what is known of the pod now */
  readonly request: (api: LocalApi, pod: PodView) => Promise<(now: PodView | undefined) => boolean>;
}

/** All names are looked up before anything is asked for. @throws PodwireError POD_UNKNOWN, REQUEST_INVALID */
export async function changePods(
  command: Command,
  io: Io,
  words: readonly string[],
  verb: PodVerb,
): Promise<void> {
  const { timeout, namespace } = optionsOf(command) as { timeout: number; namespace?: string };
  const { podSocket } = placesIn(locateDirectory(command, io));
  const progress = startProgress(io);
  const changes = await withInterrupt(async (signal) => {
    const api = openPodApi(podSocket, { signal });
    const { pods } = await api.get<PodsView>('/v1/pods');
    const chosen = [...new Set(words.map((word) => choosePod(pods, word, namespace)))];
    const call = { api, io, progress, signal, milliseconds: timeout * 1000 };
    return changeAll(call, chosen, verb);
  });
  if (changes.some(({ done }) => !done)) io.exitCode = exitCodes.notAsItShould;
  if (outputOf(command) === 'json') writeJson(io, { pods: changes });
}

interface Call {
  readonly api: LocalApi;
  readonly io: Io;
  readonly progress: Progress;
  readonly signal: AbortSignal;
  readonly milliseconds: number;
}

interface Change {
  readonly namespace: string;
  readonly name: string;
  readonly done: boolean;
}

/** Asked for all together, since each may take its grace period; then awaited one after the other. */
async function changeAll(call: Call, pods: readonly PodView[], verb: PodVerb): Promise<Change[]> {
  const changes: Change[] = [];
  const asked = await Promise.all(
    pods.map(async (pod) => ({ pod, isDone: await verb.request(call.api, pod) })),
  );
  await withDeadline(call.signal, call.milliseconds, async (either) => {
    for (const { pod, isDone } of asked) {
      const { namespace, name } = pod;
      changes.push({ namespace, name, done: await awaitChange(call, pod, verb, isDone, either) });
    }
  });
  return changes;
}

function awaitChange(
  { api, io, progress }: Call,
  pod: PodView,
  { doing, done }: PodVerb,
  isDone: (now: PodView | undefined) => boolean,
  signal: AbortSignal,
): Promise<boolean> {
  const name = `pod/${printable(fullName(pod))}`;
  const open = (over: boolean): string | undefined => (over ? undefined : `${name} is still ${doing}`);
  const words = { doing: `${doing} ${name}`, done: `${name} ${done}`, open };
  const isIt = (one: PodView): boolean => fullName(one) === fullName(pod);
  return progress.step(words, async () => {
    let over = false;
    const silent = { ...io, stderr: { write: () => undefined } };
    await followPods(
      { api, io: silent, progress: quietProgress, concerns: isIt, signal },
      (pods) => (over = isDone(pods.find(({ stage }) => stage !== 'terminating') ?? pods[0])),
    );
    return over;
  });
}
