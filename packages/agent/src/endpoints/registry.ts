/** What the agent knows of its endpoints: the records, in memory. The files beside are for the next start. */
import type { EndpointRecord } from '../records/record.js';
import {
  type Bandwidth,
  type EndpointId,
  endpointKey,
  type PodIdentity,
  type PortMapping,
} from '@podwire/network-contract';

/** What the agent keeps in `EndpointRecord.endpoint`: the request as it was understood, to compare and to plan again. */
export interface EndpointDetails {
  /** The network of the configuration. `id.network` is the CNI network, which may be called otherwise. */
  readonly network: string;
  readonly mac: string;
  readonly portMappings: readonly PortMapping[];
  readonly bandwidth?: Bandwidth;
}

export type AgentRecord = EndpointRecord & { readonly endpoint: EndpointDetails };

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

function hostLinks({ resources }: AgentRecord): string[] {
  return resources.filter((resource) => resource.kind === 'veth').map(({ host }) => host.name);
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
