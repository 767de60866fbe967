/**
 * The pods of this machine, of both agents: the pod agent knows containers and why they wait, the node agent knows addresses, links and
 * ports, also of pods that a kubelet or another runtime has started. Either of them may be absent.
 */
import { PodwireError } from '@podwire/errors';
import type { LocalApi } from '@podwire/local-api';
import type { PodView } from '@podwire/podlet';
import type { EndpointView } from '../api/shapes.js';
import { fullName, type PodsView } from './names.js';

export interface PodList extends PodsView {
  /** Attachments of pods, by the node agent; none when it does not answer. */
  readonly endpoints: readonly EndpointView[];
  /** The agents that do not answer, with why. */
  readonly absent: readonly { readonly agent: 'pod agent' | 'node agent'; readonly message: string }[];
}

/**
 * @param podAgent undefined: it is not asked
 * @throws PodwireError of the agent that is needed; PODLET_UNREACHABLE when neither of them answers
 */
export async function readPodList(
  podAgent: LocalApi | undefined,
  nodeAgent: LocalApi,
  needed: 'either' | 'node agent',
): Promise<PodList> {
  const [pods, attached] = await Promise.all([
    orAbsent(podAgent?.get<PodsView>('/v1/pods') ?? Promise.resolve({ pods: [], problems: [] })),
    orAbsent(nodeAgent.get<{ endpoints: readonly EndpointView[] }>('/v1/endpoints')),
  ]);
  const noPods = pods instanceof PodwireError;
  if (attached instanceof PodwireError) {
    if (needed === 'node agent' || podAgent === undefined) throw attached;
    if (noPods) throw pods;
    return { ...pods, endpoints: [], absent: [{ agent: 'node agent', message: attached.message }] };
  }
  const { endpoints } = attached;
  if (!noPods) return { ...pods, endpoints, absent: [] };
  return { pods: [], problems: [], endpoints, absent: [{ agent: 'pod agent', message: pods.message }] };
}

/** An agent that is not there is no reason to say nothing of the other. */
async function orAbsent<T>(answer: Promise<T>): Promise<T | PodwireError> {
  try {
    return await answer;
  } catch (error) {
    const silent = ['AGENT_UNREACHABLE', 'PODLET_UNREACHABLE', 'DEADLINE_EXCEEDED'];
    if (error instanceof PodwireError && silent.includes(error.code)) return error;
    throw error;
  }
}

/** One pod as `ps` lists it. */
export interface PodRow {
  readonly name: string;
  /** Argument for `explain`, `describe` and `trace`. */
  readonly target: string;
  readonly namespace: string | undefined;
  /** Absent: the pod agent of this machine did not start it. */
  readonly pod?: PodView;
  readonly endpoints: readonly EndpointView[];
}

/** Pods with their attachments, and attachments of pods that the pod agent does not know; sorted by name. */
export function joinPods({ pods, endpoints }: Pick<PodList, 'pods' | 'endpoints'>): PodRow[] {
  const rest = new Set(endpoints);
  const own = pods.map((pod): PodRow => {
    const attached = endpoints.filter((endpoint) => belongsTo(endpoint, pod));
    for (const endpoint of attached) rest.delete(endpoint);
    const name = fullName(pod);
    return { name, target: `pod/${name}`, namespace: pod.namespace, pod, endpoints: attached };
  });
  return [...own, ...groupByName([...rest])].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

function belongsTo(
  { pod, containerId }: EndpointView,
  { namespace, name, uid, sandboxId }: PodView,
): boolean {
  if (sandboxId !== undefined && containerId === sandboxId) return true;
  const sameName = pod.name === name && pod.namespace === namespace;
  return sameName && (pod.uid === undefined || pod.uid === uid);
}

function groupByName(endpoints: readonly EndpointView[]): PodRow[] {
  const groups = new Map<string, EndpointView[]>();
  for (const endpoint of endpoints) {
    const key = JSON.stringify([nameOf(endpoint), endpoint.pod.uid ?? '']);
    groups.set(key, [...(groups.get(key) ?? []), endpoint]);
  }
  return [...groups.values()].map((attached): PodRow => {
    const [first] = attached as [EndpointView];
    return {
      name: nameOf(first),
      target: targetOf(first),
      namespace: first.pod.namespace,
      endpoints: attached,
    };
  });
}

/** `namespace/name`, or the container's id outside Kubernetes. */
export function nameOf({ pod, containerId }: Pick<EndpointView, 'pod' | 'containerId'>): string {
  return pod.name === undefined ? containerId : `${pod.namespace ?? ''}/${pod.name}`;
}

/** Argument for `explain` and `trace`. */
export function targetOf(endpoint: Pick<EndpointView, 'pod' | 'containerId'>): string {
  return endpoint.pod.name === undefined ? endpoint.containerId : `pod/${nameOf(endpoint)}`;
}
