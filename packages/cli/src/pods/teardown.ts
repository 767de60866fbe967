/** The other way round than bringing up: no manifests, no pods, no agents that were started for them. */
import type { NodeChange } from '@podwire/agent';
import { PodwireError } from '@podwire/errors';
import type { LocalApi } from '@podwire/local-api';
import type { PodView } from '@podwire/podlet';
import { withDeadline } from '@podwire/platform';
import { openAgentApi } from '../api/locate.js';
import type { EndpointView } from '../api/shapes.js';
import type { Io } from '../io.js';
import { endProcesses } from '@podwire/linux';
import { loadSources } from '../pod-agent/source-file.js';
import type { Progress } from '../render/progress.js';
import { clearUp } from './clear-up.js';
import { followPods, isOf } from './follow.js';
import { openPodApi, type Places } from './locate.js';
import { fullName } from './names.js';
import { lockStart, readGround, readStarted } from './started.js';

export interface Sources {
  readonly files: readonly string[];
  readonly urls: readonly string[];
}

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
  /** Pods that had not ended in time. */
  readonly remaining: readonly string[];
  /** Agents that were ended: those that `podwire up` had started, once no pod is left. */
  readonly ended: readonly string[];
  /** What was done so that the node is what it was before `podwire up`; nothing where another has started its agent. */
  readonly node: readonly NodeChange[];
}

/**
 * @param sources all when absent
 * @throws PodwireError PODLET_UNREACHABLE without a pod agent, unless nothing is left but the node agent
 */
export async function tearDownPods(call: TakeDown, sources?: Sources): Promise<TakenDown> {
  const api = openPodApi(call.places.podSocket, { signal: call.signal });
  const dropped = await dropSources(api, sources).catch((error: unknown) => refuseUnlessBare(call, error));
  if (dropped === undefined) {
    return { removed: [], remaining: [], ...(await endStarted(call)) };
  }
  const { changed, left } = dropped;
  const remaining = await waitUntilGone(api, call, concernsOf(sources, left));
  const ending = left === 0 && remaining.length === 0 ? await endStarted(call) : { ended: [], node: [] };
  return { removed: changed, remaining, ...ending };
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

async function dropSources(
  api: LocalApi,
  chosen: Sources | undefined,
): Promise<{ changed: string[]; left: number }> {
  const { files, urls } = chosen ?? (await api.get<Sources>('/v1/sources'));
  const answer = await api.delete<Sources & { changed: string[] }>('/v1/sources', { files, urls });
  return { changed: answer.changed, left: answer.files.length + answer.urls.length };
}

/**
 * Also pods of places that an earlier call has dropped and not seen end. Where no place is left, all that manifests ever were the
 * cause of: the agents, which are ended then, must not leave one behind half taken down.
 */
function concernsOf(chosen: Sources | undefined, left: number): (pod: PodView) => boolean {
  if (chosen === undefined || left === 0) return ({ source }) => source !== 'api';
  return isOf([...chosen.files, ...chosen.urls]);
}

/** @returns the names of pods that are still there */
async function waitUntilGone(
  api: LocalApi,
  { io, progress, signal, milliseconds }: TakeDown,
  concerns: (pod: PodView) => boolean,
): Promise<string[]> {
  const silent = { ...io, stderr: { write: () => undefined } };
  const board = await progress.step('pods ended', () =>
    withDeadline(signal, milliseconds, (either) =>
      followPods({ api, io: silent, progress: quiet, concerns, signal: either }, (pods) => pods.length === 0),
    ),
  );
  return [...board.pods.values()].filter(concerns).map(fullName);
}

const quiet: Progress = { show: () => undefined, step: (_what, work) => work(), end: () => undefined };

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
