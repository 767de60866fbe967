/** The endpoint records in memory. Their files are read at the next start only. */
import type { Result } from '@podwire/cni';
import type { EndpointRecord } from '../records/record.js';
import {
  type Bandwidth,
  type EndpointId,
  endpointKey,
  type PodIdentity,
  type PortMapping,
} from '@podwire/network-contract';

/** What the agent keeps in `EndpointRecord.endpoint`: the parsed request, to compare and to plan again. */
export interface EndpointDetails {
  /** The network of the configuration. `id.network` is the CNI network, which may be called otherwise. */
  readonly network: string;
  readonly mac: string;
  readonly portMappings: readonly PortMapping[];
  readonly bandwidth?: Bandwidth;
  /** Names of the links that the node has for it; absent in records of agents that did not write them down. */
  readonly hostLinks?: readonly string[];
}

export type AgentRecord = EndpointRecord & { readonly endpoint: EndpointDetails; readonly answer: Result };

export interface EndpointRegistry {
  get(key: string): AgentRecord | undefined;
  put(record: AgentRecord): void;
  drop(id: EndpointId): void;
  all(): AgentRecord[];
  /** The endpoint that has the host-side link of this name. */
  ofLink(name: string): AgentRecord | undefined;
  /** By key, by container id, by `namespace/name` of the pod, or by the name alone. */
  find(text: string): AgentRecord[];
  readonly size: number;
}

export function createEndpointRegistry(): EndpointRegistry {
  const records = new Map<string, AgentRecord>();
  const links = new Map<string, string>();
  return {
    get: (key) => records.get(key),
    put(record) {
      const key = endpointKey(record.id);
      records.set(key, record);
      for (const name of hostLinks(record)) links.set(name, key);
    },
    drop(id) {
      const key = endpointKey(id);
      const record = records.get(key);
      records.delete(key);
      if (record === undefined) return;
      for (const name of hostLinks(record)) if (links.get(name) === key) links.delete(name);
    },
    all: () => [...records.values()],
    ofLink: (name) => records.get(links.get(name) ?? ''),
    find: (text) => {
      const exact = records.get(text);
      return exact === undefined ? [...records.values()].filter((record) => isCalled(record, text)) : [exact];
    },
    get size() {
      return records.size;
    },
  };
}

/** Names of its links on the node, in the order of the plan. */
export function hostLinks({ endpoint, answer }: AgentRecord): readonly string[] {
  if (endpoint.hostLinks !== undefined) return endpoint.hostLinks;
  const { interfaces = [] } = answer ?? {};
  return interfaces.filter(({ sandbox }) => sandbox === undefined).map(({ name }) => name);
}

function isCalled(record: AgentRecord, text: string): boolean {
  return [record.id.containerId, record.pod.name, podName(record)].includes(text);
}

/** `namespace/name`; undefined outside Kubernetes. */
export function podName({ pod }: Pick<EndpointRecord, 'pod'>): string | undefined {
  return pod.name === undefined ? undefined : `${pod.namespace ?? ''}/${pod.name}`;
}

/** Only pods of Kubernetes' naming can belong to a workload. */
export function fullName({
  namespace,
  name,
}: PodIdentity): { readonly namespace: string; readonly name: string } | undefined {
  return namespace === undefined || name === undefined ? undefined : { namespace, name };
}

/** How an endpoint is called in messages: its pod, or else its container. */
export function describeEndpoint(record: Pick<EndpointRecord, 'pod' | 'id'>): string {
  const pod = podName(record);
  return pod === undefined ? `container ${record.id.containerId}` : `pod ${pod}`;
}
