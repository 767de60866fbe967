/** The whole trace of a pod: what the pod agent saw, and within it what the node agent did for its network. */
import { describeResource } from '@podwire/backend-linux';
import type { LocalApi } from '@podwire/local-api';
import type { PodView } from '@podwire/podlet';
import { joinAgentTraces, type Span, spansFromAgentTrace } from '@podwire/tracing';
import type { Trace, TracesView } from '../api/shapes.js';
import { fullName } from './names.js';

export interface PodTrace {
  readonly pod: PodView;
  readonly spans: readonly Span[];
}

/** More than any agent keeps. */
const all = 100_000;

/** @param agent absent, or not answering, where pods have another network */
export async function readPodTrace(api: LocalApi, pod: PodView, agent: LocalApi): Promise<PodTrace> {
  const trace = await api.get<PodTrace>(`/v1/trace/${fullName(pod)}`);
  const { traces } = await agent.get<TracesView>(`/v1/traces?limit=${all}`).catch(() => ({ traces: [] }));
  const joined = joinAgentTraces(trace.spans, traces, describeResource);
  if (joined.length > trace.spans.length) return { ...trace, spans: joined };
  return { ...trace, spans: [...trace.spans, ...besideTheRuntime(trace.spans, traces, pod.sandboxId)] };
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
    .flatMap((each) => spansFromAgentTrace(each, call, describeResource));
}
