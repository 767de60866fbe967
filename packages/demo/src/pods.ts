/** The pods of examples/ on the private host: brought up as `podwire up` does it, and taken down as `podwire down` does. */
import type { PodView } from '@podwire/podlet';
import { PodwireError } from '@podwire/errors';
import {
  bringUp,
  type EndpointView,
  evaluatePod,
  fullName,
  nameOf,
  openAgentApi,
  openPodApi,
  placesIn,
  podAgentAnswers,
  type PodTrace,
  readPodTrace,
  tearDownPods,
  waitForPods,
} from '@podwire/cli/pods';
import { checkoutFile, type Io, type Progress } from '@podwire/cli/command';
import type { Engine } from './engines/engine.js';
import type { OpenRecord } from './record.js';
import type { DemoNamespace } from './namespaces.js';
import type { DemoPod } from './state.js';

const examples = ['web', 'client', 'limited'].map((name) => checkoutFile(`examples/${name}.yaml`));

export interface PodsCall {
  readonly node: DemoNamespace;
  readonly record: OpenRecord;
  readonly engine?: Engine;
  readonly io: Io;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

/** Milliseconds. */
const readyDeadline = 60_000;

/** @throws PodwireError DEADLINE_EXCEEDED when a pod is not ready in time, and whatever kept the agents from starting */
export async function runExamples(call: PodsCall): Promise<{ pods: DemoPod[]; trace: PodTrace }> {
  const { node, record, engine, io, progress, signal } = call;
  const { directory } = record.current;
  const places = placesIn(directory);
  await bringUp({
    ...{ directory, places, progress, signal, inside: node.inside, knowsPodwire: true },
    runtime: engine?.runtime ?? 'embedded',
    more: ['--node-name', 'demo', ...(engine?.more ?? [])],
  });
  const api = openPodApi(places.podSocket, { signal, timeout: 30_000 });
  await api.post('/v1/sources', { files: examples, urls: [] });
  const { pods } = await waitForPods({
    ...{ api, io, progress, signal },
    places: examples,
    milliseconds: readyDeadline,
  });
  signal.throwIfAborted();
  const unready = pods.filter((pod) => evaluatePod(pod).state !== 'ready');
  if (unready.length > 0 || pods.length === 0) throw notReady(unready);
  return describe(call, pods);
}

function notReady(pods: readonly PodView[]): PodwireError {
  const words = pods.map((pod) => `pod ${fullName(pod)} is not ready: ${evaluatePod(pod).why}`);
  return new PodwireError('DEADLINE_EXCEEDED', words.join('\n') || 'there are no pods');
}

/** In the order of the examples. */
async function describe(
  { record, signal }: PodsCall,
  views: readonly PodView[],
): Promise<{ pods: DemoPod[]; trace: PodTrace }> {
  const places = placesIn(record.current.directory);
  const agent = openAgentApi({ socket: places.agentApi, signal });
  const api = openPodApi(places.podSocket, { signal });
  const { endpoints } = await agent.get<{ endpoints: readonly EndpointView[] }>('/v1/endpoints');
  const ordered = views.toSorted((a, b) => placeOf(a) - placeOf(b));
  const traces = await Promise.all(ordered.map((view) => readPodTrace(api, view, agent)));
  const pods = ordered.map((view, index) => {
    const endpoint = endpoints.find((each) => nameOf(each) === fullName(view));
    if (endpoint === undefined) throw new Error(`the node agent does not know the pod ${fullName(view)}`);
    return { view, endpoint, started: durationOf(traces[index]!) };
  });
  // Of the pod with the most to do.
  const effort = ({ pod, spans }: PodTrace): number => pod.containers.length * 1_000 + spans.length;
  const [trace] = traces.toSorted((a, b) => effort(b) - effort(a));
  return { pods, trace: trace! };
}

const placeOf = ({ origin = '' }: PodView): number => examples.indexOf(origin);

/** From the manifest until the last container was started. */
function durationOf({ spans }: PodTrace): number {
  const root = spans.find(({ parentId }) => parentId === undefined) ?? spans[0];
  const starts = spans.filter(({ name }) => name === 'StartContainer');
  const end = Math.max(...starts.map(({ startedAt, duration }) => startedAt + duration));
  return end - (root?.startedAt ?? end);
}

/** Milliseconds. */
const downDeadline = 30_000;

/**
 * Not with the demo's signal: what was brought up is taken down also after Ctrl-C. What it cannot do, the end of the demo does.
 * @returns milliseconds; undefined when there was no pod agent, or it ended in the middle of it
 */
export async function endExamples(
  directory: string,
  io: Io,
  progress: Progress,
): Promise<number | undefined> {
  const places = placesIn(directory);
  const begin = performance.now();
  const { signal } = new AbortController();
  try {
    if (!(await podAgentAnswers(places))) return undefined;
    await tearDownPods({ places, io, progress, signal, milliseconds: downDeadline });
    return performance.now() - begin;
  } catch {
    return undefined;
  }
}
