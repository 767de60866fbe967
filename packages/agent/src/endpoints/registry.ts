/** The endpoint records in memory. Their files are read at the next start only. */
import type { EndpointRecord } from '../records/record.js';
import { type EndpointId, endpointKey, type PodIdentity } from '@podwire/network-contract';

export interface EndpointRegistry {
  get(key: string): EndpointRecord | undefined;
  put(record: EndpointRecord): void;
  drop(id: EndpointId): void;
  all(): EndpointRecord[];
  /** Calls with the key of each endpoint that comes, changes or goes from now on. */
  onChange(listener: (key: string) => void): void;
  /** The endpoint that has the host-side link of this name. */
  ofLink(name: string): EndpointRecord | undefined;
  /** By key, by container id, by `namespace/name` of the pod, or by the name alone. */
  find(text: string): EndpointRecord[];
  readonly size: number;
}

export function createEndpointRegistry(): EndpointRegistry {
  const records = new Map<string, EndpointRecord>();
  const links = new Map<string, string>();
  const listeners: ((key: string) => void)[] = [];
  const tell = (key: string): void => {
    for (const listener of listeners) listener(key);
  };
  return {
    get: (key) => records.get(key),
    put(record) {
      const key = endpointKey(record.id);
      records.set(key, record);
      for (const name of hostLinks(record)) links.set(name, key);
      tell(key);
    },
    drop(id) {
      const key = endpointKey(id);
      const record = records.get(key);
      records.delete(key);
      tell(key);
      if (record === undefined) return;
      for (const name of hostLinks(record)) if (links.get(name) === key) links.delete(name);
    },
    all: () => [...records.values()],
    onChange: (listener) => void listeners.push(listener),
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
export function hostLinks({ endpoint, answer }: EndpointRecord): readonly string[] {
  if (endpoint.hostLinks !== undefined) return endpoint.hostLinks;
  const { interfaces = [] } = answer;
  return interfaces.filter(({ sandbox }) => sandbox === undefined).map(({ name }) => name);
}

function isCalled(record: EndpointRecord, text: string): boolean {
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
