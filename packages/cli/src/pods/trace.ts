/** The whole trace of a pod: what the pod agent saw, and within it what the node agent did for its network. */
import type { LocalApi } from '@podwire/local-api';
import type { PodView } from '@podwire/podlet';
import { joinAgentTraces, type Span, spansFromAgentTrace } from '@podwire/tracing';
import type { Trace, TracesView } from '../api/shapes.js';
import { resourceWords } from '../render/resource-words.js';
import { fullName } from './names.js';

export interface PodTrace {
  readonly pod: PodView;
  readonly spans: readonly Span[];
}

/** More than any agent keeps. */
const all = 100_000;

/** @param agent absent, or not answering, where pods have another network */
export async function readPodTrace(api: LocalApi, pod: PodView, agent: LocalApi): Promise<PodTrace> {
  const { traces } = await agent.get<TracesView>(`/v1/traces?limit=${all}`).catch(() => ({ traces: [] }));
  return { pod, spans: await readSpans(api, pod, traces) };
}

/** The spans of the pod agent, joined with the node agent's traces. */
export async function readSpans(
  api: Pick<LocalApi, 'get'>,
  pod: PodView,
  traces: readonly Trace[],
): Promise<readonly Span[]> {
  const { spans } = await api.get<PodTrace>(`/v1/trace/${fullName(pod)}`);
  const joined = joinAgentTraces(spans, traces, resourceWords.describe);
  return joined.length > spans.length
    ? joined
    : [...spans, ...besideTheRuntime(spans, traces, pod.sandboxId)];
}

/** Runtimes such as containerd do not hand the trace on: what the agent did for the sandbox is found by its id. */
function besideTheRuntime(
  spans: readonly Span[],
  traces: readonly Trace[],
  sandboxId: string | undefined,
): readonly Span[] {
  const call = spans.findLast(({ name }) => name === 'RunPodSandbox');
  if (call === undefined || sandboxId === undefined) return [];
  return traces
    .filter(({ command, endpoint }) => command === 'ADD' && endpoint?.split(',')[1] === sandboxId)
    .flatMap((each) => spansFromAgentTrace(each, call, resourceWords.describe));
}
