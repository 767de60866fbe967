/** Tells the API server what happened to pods, so that `kubectl describe` shows it. Events are a courtesy: none is worth waiting. */
import { randomUUID } from 'node:crypto';
import type { PodEvent } from '../contract.js';
import type { Pod } from '../pod/pod.js';
import type { KubernetesClient } from './client.js';

export interface EventWriter {
  event(pod: Pod, event: PodEvent): void;
  close(): Promise<void>;
}

export interface EventWriterOptions {
  readonly client: KubernetesClient;
  readonly node: string;
  /** Unique end of an event's name; a random one when absent. */
  readonly uniqueName?: () => string;
}

/** More than this waiting and new ones are dropped: the server has other things to do. */
const longestQueue = 200;

export function createEventWriter({
  client,
  node,
  uniqueName = randomUUID,
}: EventWriterOptions): EventWriter {
  const stop = new AbortController();
  const queue: object[] = [];
  let working: Promise<void> | undefined;
  const drain = async (): Promise<void> => {
    for (let body = queue.shift(); body !== undefined && !stop.signal.aborted; body = queue.shift()) {
      const { namespace } = (body as { metadata: { namespace: string } }).metadata;
      const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/events`;
      await client.request('POST', path, { signal: stop.signal, body }).catch(() => undefined);
    }
    working = undefined;
  };
  return {
    event: (pod, event) => {
      if (queue.length >= longestQueue || stop.signal.aborted) return;
      queue.push(describeEvent(pod, event, node, uniqueName()));
      working ??= drain();
    },
    close: async () => {
      stop.abort(new Error('the event writer stops'));
      await working;
    },
  };
}

function describeEvent({ metadata }: Pod, event: PodEvent, node: string, unique: string): object {
  const { namespace, name, uid } = metadata;
  const time = (at: number): string => `${new Date(at).toISOString().slice(0, 19)}Z`;
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { namespace, name: `${name}.${unique}`.slice(-253) },
    involvedObject: { apiVersion: 'v1', kind: 'Pod', namespace, name, uid },
    type: event.type,
    reason: event.reason,
    message: event.message.slice(0, 1024),
    source: { component: 'podwire', host: node },
    firstTimestamp: time(event.at),
    lastTimestamp: time(event.lastAt),
    count: event.count,
  };
}
