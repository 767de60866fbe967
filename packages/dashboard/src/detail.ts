/** Everything of one pod or node, asked for when a person opens it. */
import { describeError } from '@podwire/errors';
import type { EndpointView, ExplainAnswer, NodeAnswers, PodView, Trace } from './answers.js';
import type { ContainerRow, NodeDetail, PodDetail, WaterfallView } from './shapes.js';
import type { DashboardSources, NodeSource, Wording } from './sources.js';
import { viewPath, viewResources } from './view/path.js';
import { spansOfRequest, viewWaterfall } from './view/waterfall.js';

const mostEvents = 50;

/** A pod in the answers of the latest round. */
export interface FoundPod {
  readonly source: NodeSource;
  readonly answers: NodeAnswers;
  readonly pod?: PodView | undefined;
  readonly endpoint?: EndpointView | undefined;
}

export async function readPodDetail(
  { source, answers, pod, endpoint }: FoundPod,
  { wording, readSpans }: Pick<DashboardSources, 'wording' | 'readSpans'>,
): Promise<PodDetail> {
  const notes: string[] = [];
  const note = (what: string) => (error: unknown) => void notes.push(`${what}: ${describeError(error)}`);
  const [explained, waterfall] = await Promise.all([
    endpoint && askExplain(source, endpoint.key).catch(note('explain')),
    readWaterfall({ source, answers, pod, endpoint }, { wording, readSpans }).catch(note('trace')),
  ]);
  const resources = explained?.resources ?? [];
  return {
    ...describeContainers(pod),
    path: endpoint === undefined ? [] : viewPath(endpoint, resources, answers.status, wording),
    resources: viewResources(resources, wording),
    waterfall: waterfall ?? null,
    facts: listFacts(pod, endpoint),
    notes,
  };
}

export async function readNodeDetail(source: NodeSource, wording: Wording): Promise<NodeDetail> {
  try {
    return { resources: viewResources((await askExplain(source, 'node')).resources, wording), notes: [] };
  } catch (error) {
    return { resources: [], notes: [`explain: ${describeError(error)}`] };
  }
}

const askExplain = ({ agent }: NodeSource, target: string): Promise<ExplainAnswer> =>
  agent.get<ExplainAnswer>(`/v1/explain/${encodeURIComponent(target)}`);

async function readWaterfall(
  { source, answers, pod, endpoint }: FoundPod,
  { wording, readSpans }: Pick<DashboardSources, 'wording' | 'readSpans'>,
): Promise<WaterfallView | null> {
  const spans = pod === undefined ? [] : await readSpans(source, pod, answers.traces);
  if (spans.length > 0) return viewWaterfall(spans);
  const added = answers.traces.findLast(
    (trace: Trace) => trace.command === 'ADD' && trace.endpoint === endpoint?.key,
  );
  return added === undefined || endpoint === undefined ? null : viewWaterfall(spansOfRequest(added, wording));
}

function describeContainers(
  pod: PodView | undefined,
): Pick<PodDetail, 'containers' | 'conditions' | 'events'> {
  if (pod === undefined) return { containers: [], conditions: [], events: [] };
  const { initContainerStatuses, containerStatuses, conditions } = pod.status;
  return {
    containers: [...initContainerStatuses, ...containerStatuses].map(viewContainer),
    conditions: conditions.map(({ type, status, reason, message }) => {
      return { type, status, message: message ?? reason ?? '' };
    }),
    events: pod.events
      .toSorted((a, b) => b.lastAt - a.lastAt)
      .slice(0, mostEvents)
      .map(({ type, reason, message, lastAt, count }) => {
        return { at: lastAt, level: type === 'Warning' ? 'bad' : 'good', reason, message, count };
      }),
  };
}

type ContainerStatus = PodView['status']['containerStatuses'][number];

function viewContainer({ name, image, state, ready, restartCount }: ContainerStatus): ContainerRow {
  const row = { name, image, restarts: restartCount };
  const { running, waiting, terminated } = state;
  if (running !== undefined)
    return { ...row, level: ready ? 'good' : 'busy', state: ready ? 'running' : 'running, not ready' };
  if (terminated !== undefined) {
    const { exitCode, reason } = terminated;
    return { ...row, level: exitCode === 0 ? 'good' : 'bad', state: `${reason}, exit code ${exitCode}` };
  }
  return { ...row, level: 'busy', state: waiting?.reason ?? 'waiting' };
}

function listFacts(pod: PodView | undefined, endpoint: EndpointView | undefined): [string, string][] {
  const facts: [string, string | undefined][] = [
    ['Manifest', pod?.origin],
    ['Source', pod?.source],
    ['QoS class', pod?.status.qosClass],
    ['Network', endpoint?.network],
    ['Container', endpoint?.containerId ?? pod?.sandboxId],
    ['Namespace file', endpoint?.netns],
  ];
  return facts.filter((fact): fact is [string, string] => fact[1] !== undefined && fact[1] !== '');
}
