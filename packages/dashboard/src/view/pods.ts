/** Rows of pods: those of pod agents joined with the endpoints of node agents. Pure. */
import type { EndpointView, NodeAnswers, PodView } from '../answers.js';
import type { Level, PodRow } from '../shapes.js';
import type { Wording } from '../sources.js';
import { compareNames } from './nodes.js';

/** More rows than this are only counted. */
export const mostPods = 2_000;

export function viewPods(answers: readonly NodeAnswers[], wording: Pick<Wording, 'describePod'>): PodRow[] {
  return answers
    .flatMap((each) => podsOfNode(each, wording))
    .toSorted((a, b) => compareNames(a.namespace, b.namespace) || compareNames(a.name, b.name));
}

function podsOfNode(
  { name: node, endpoints, pods = [] }: NodeAnswers,
  wording: Pick<Wording, 'describePod'>,
): PodRow[] {
  const bySandbox = new Map(endpoints.map((each) => [each.containerId, each]));
  const known = pods.map((pod) => {
    const endpoint = pod.sandboxId === undefined ? undefined : bySandbox.get(pod.sandboxId);
    return viewPod(node, pod, endpoint, wording);
  });
  const taken = new Set(known.map(({ endpoint }) => endpoint));
  return [
    ...known,
    ...endpoints.filter(({ key }) => !taken.has(key)).map((each) => viewEndpoint(node, each)),
  ];
}

function viewPod(
  node: string,
  pod: PodView,
  endpoint: EndpointView | undefined,
  { describePod }: Pick<Wording, 'describePod'>,
): PodRow {
  const { namespace, name, uid, status } = pod;
  const { containerStatuses: containers } = status;
  return {
    id: `${node} ${namespace}/${name} ${uid}`,
    ...{ node, namespace, name },
    ...describePod(pod),
    ready: `${containers.filter(({ ready }) => ready).length}/${containers.length}`,
    restarts: containers.reduce((sum, { restartCount }) => sum + restartCount, 0),
    addresses: status.podIPs.map(({ ip }) => ip),
    since: status.startTime === undefined ? null : Date.parse(status.startTime),
    ...networkOf(endpoint),
  };
}

/** A pod of which only the network is known: another runtime started it. */
function viewEndpoint(node: string, endpoint: EndpointView): PodRow {
  const { pod, containerId, addresses, phase, createdAt } = endpoint;
  const { namespace = '', name = containerId.slice(0, 12), uid = containerId } = pod;
  return {
    id: `${node} ${namespace}/${name} ${uid}`,
    ...{ node, namespace, name, level: levelOf(phase) },
    state: phase === 'ready' ? 'Connected' : phase === 'wiring' ? 'Connecting' : 'Disconnecting',
    ...{ reason: '', ready: '', restarts: 0 },
    addresses,
    since: Date.parse(createdAt),
    ...networkOf(endpoint),
  };
}

const networkOf = (endpoint: EndpointView | undefined) => ({
  hostLink: endpoint?.hostInterface ?? '',
  network: endpoint?.network ?? '',
  endpoint: endpoint?.key ?? null,
});

const levelOf = (phase: string): Level => (phase === 'ready' ? 'good' : 'busy');
