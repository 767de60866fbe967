/** The other way round than bringing up: no manifests, no pods, no agents that were started for them. */
import type { NodeChange } from '@podwire/agent/offline';
import { PodwireError } from '@podwire/errors';
import type { LocalApi } from '@podwire/local-api';
import type { PodRemoved, PodView } from '@podwire/podlet';
import { withDeadline } from '@podwire/platform';
import { openAgentApi } from '../api/locate.js';
import type { EndpointView } from '../api/shapes.js';
import type { Io } from '../io.js';
import { endProcesses } from '@podwire/linux';
import { loadSources } from '../pod-agent/source-file.js';
import { type Progress, quietProgress } from '../render/progress.js';
import { clearUp } from './clear-up.js';
import { followPods, isOf } from './follow.js';
import { openPodApi, type Places } from './locate.js';
import { fullName, type PodsView } from './names.js';
import type { Meant, Sources } from './sort-words.js';
import { lockStart, readGround, readStarted } from './started.js';

export interface TakeDown {
  readonly places: Places;
  readonly io: Io;
  readonly progress: Progress;
  readonly signal: AbortSignal;
  /** How long to wait for pods to end. */
  readonly milliseconds: number;
}

export interface TakenDown {
  /** Manifests that are not watched any more. */
  readonly removed: readonly string[];
  /** Pods that have ended. */
  readonly pods: readonly string[];
  /** Pods that had not ended in time. */
  readonly remaining: readonly string[];
  /** Pods that were not meant, and run on. */
  readonly others: readonly string[];
  /** Agents that were ended: those that `podwire up` had started, once no pod is left. */
  readonly ended: readonly string[];
  /** Changes that put the node back into its state before `podwire up`; nothing where another has started its agent. */
  readonly node: readonly NodeChange[];
}

/**
 * @param meant all when absent
 * @throws PodwireError PODLET_UNREACHABLE without a pod agent, unless nothing is left but the node agent
 */
export async function tearDownPods(call: TakeDown, meant?: Meant): Promise<TakenDown> {
  const api = openPodApi(call.places.podSocket, { signal: call.signal });
  const dropped = await drop(api, meant).catch((error: unknown) => refuseUnlessBare(call, error));
  if (dropped === undefined) {
    return { removed: [], pods: [], remaining: [], others: [], ...(await endStarted(call)) };
  }
  const { changed, left, before } = dropped;
  const concerns = concernsOf(meant, left);
  const after = await waitUntilGone(api, call, concerns);
  const remaining = after.filter(concerns).map(fullName);
  const ending = left === 0 && remaining.length === 0 ? await endStarted(call) : { ended: [], node: [] };
  const pods = before.filter(concerns).map(fullName);
  return {
    removed: changed,
    pods: pods.filter((name) => !remaining.includes(name)),
    remaining,
    others: after.filter((pod) => !concerns(pod)).map(fullName),
    ...ending,
  };
}

/**
 * The pod agent has died, or `podwire up` was killed before it started one. A node agent without pods can be ended
 * all the same; otherwise its pods come first. @throws what else was wrong
 */
async function refuseUnlessBare({ places, signal }: TakeDown, error: unknown): Promise<undefined> {
  const { agent, podlet } = readStarted(places);
  const isGone = error instanceof PodwireError && error.code === 'PODLET_UNREACHABLE' && podlet === undefined;
  if (!isGone || readGround(places) === undefined) throw error;
  const { files, urls, problem } = loadSources(places);
  // A node agent that has ended as well has left records of its pods, and then the node stays as it is.
  const endpoints = agent === undefined ? [] : await listEndpoints(places, signal);
  if (problem === undefined && files.length + urls.length + endpoints.length === 0) return;
  const advice = 'pods may still run, so the node agent is not ended';
  throw new PodwireError('PODLET_UNREACHABLE', `${error.message}; ${advice}`, {
    details: error.details,
    action: 'Start the pod agent again with `podwire up FILE`, then take the pods down.',
  });
}

async function listEndpoints({ agentApi }: Places, signal: AbortSignal): Promise<readonly EndpointView[]> {
  const node = openAgentApi({ socket: agentApi, signal });
  return (await node.get<{ endpoints: readonly EndpointView[] }>('/v1/endpoints')).endpoints;
}

interface Dropped {
  /** Manifests that are not watched any more. */
  readonly changed: readonly string[];
  /** How many are. */
  readonly left: number;
  readonly before: readonly PodView[];
}

async function drop(api: LocalApi, meant: Meant | undefined): Promise<Dropped> {
  const { pods: before } = await api.get<PodsView>('/v1/pods');
  const { files, urls } = meant ?? (await api.get<Sources>('/v1/sources'));
  const lost = await removeByName(api, meant?.pods ?? []);
  const answer = await api.delete<Sources & { changed: string[] }>('/v1/sources', { files, urls });
  const left = answer.files.length + answer.urls.length;
  return { changed: [...lost, ...answer.changed], left, before };
}

/** @returns manifests that had no other pod */
async function removeByName(api: LocalApi, pods: readonly PodView[]): Promise<string[]> {
  const lost: string[] = [];
  for (const { namespace, name } of pods) {
    const { dropped } = await api.post<PodRemoved>('/v1/pods/remove', { namespace, name });
    if (dropped !== undefined) lost.push(dropped);
  }
  return lost;
}

/**
 * Also pods of places that an earlier call has dropped and not seen end. Where no place is left, all that manifests ever were the
 * cause of: the agents, which are ended then, must not leave one behind half taken down.
 */
function concernsOf(meant: Meant | undefined, left: number): (pod: PodView) => boolean {
  if (meant === undefined || left === 0) return ({ source }) => source !== 'api';
  const isInPlace = isOf([...meant.files, ...meant.urls]);
  const uids = new Set(meant.pods.map(({ uid }) => uid));
  return (pod) => uids.has(pod.uid) || isInPlace(pod);
}

/** @returns the pods that are still there; also when the signal, or the time, has ended the waiting */
async function waitUntilGone(
  api: LocalApi,
  { io, progress, signal, milliseconds }: TakeDown,
  concerns: (pod: PodView) => boolean,
): Promise<PodView[]> {
  const silent = { ...io, stderr: { write: () => undefined } };
  const open = (pods: readonly PodView[]): string | undefined => {
    const names = pods.filter(concerns).map(fullName);
    return names.length === 0 ? undefined : `still ending: ${names.join(' ')}`;
  };
  return progress.step({ doing: 'waiting for pods to end', done: 'pods ended', open }, async () => {
    const board = await withDeadline(signal, milliseconds, (either) =>
      followPods(
        { api, io: silent, progress: quietProgress, concerns, signal: either },
        (pods) => pods.length === 0,
      ),
    );
    return [...board.pods.values()];
  });
}

/** The pod agent first: it has nothing left that needs the node agent. None of it while `podwire up` starts them. */
async function endStarted({
  places,
  progress,
  signal,
}: TakeDown): Promise<Pick<TakenDown, 'ended' | 'node'>> {
  const ground = readGround(places);
  if (ground === undefined) return { ended: [], node: [] };
  const unlock = await lockStart(places, signal);
  try {
    const { podlet, agent } = readStarted(places);
    const marks = [podlet, agent].filter((mark) => mark !== undefined);
    if (marks.length > 0)
      await progress.step('agents ended', async () => {
        for (const mark of marks) await endProcesses([mark]);
      });
    return { ended: marks.map(({ what }) => what), node: await clearUp(places, ground, signal) };
  } finally {
    unlock();
  }
}
