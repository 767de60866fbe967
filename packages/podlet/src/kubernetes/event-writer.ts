/** Tells the API server what happened to pods, so that `kubectl describe` shows it. Events are a courtesy: none is worth waiting. */
import { randomUUID } from 'node:crypto';
import type { PodEvent } from '../contract.js';
import { formatTime } from '../lifecycle/container-status.js';
import type { Pod } from '@podwire/pod-spec';
import { type KubernetesClient, KubernetesError } from '@podwire/kubernetes-client';

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

interface Job {
  readonly pod: Pod;
  readonly event: PodEvent;
}

/** So many events are counted up instead of being written anew; older ones are forgotten. */
const mostKnown = 1000;

/** More than this waiting and new ones are dropped: the server has other things to do. */
const longestQueue = 200;

export function createEventWriter({
  client,
  node,
  uniqueName = randomUUID,
}: EventWriterOptions): EventWriter {
  const stop = new AbortController();
  const queue: Job[] = [];
  /** The subject of an event → the path of its object. */
  const known = new Map<string, string>();
  let working: Promise<void> | undefined;
  const write = async ({ pod, event }: Job): Promise<void> => {
    const key = JSON.stringify([pod.metadata.uid, event.type, event.reason, event.message]);
    const object = known.get(key);
    known.delete(key);
    if (object === undefined || !(await countUp(client, object, event, stop.signal))) {
      remember(key, await create(pod, event));
    } else remember(key, object);
  };
  const create = async (pod: Pod, event: PodEvent): Promise<string> => {
    const path = `/api/v1/namespaces/${encodeURIComponent(pod.metadata.namespace)}/events`;
    const body = describeEvent(pod, event, node, uniqueName());
    await client.request('POST', path, { signal: stop.signal, body });
    return `${path}/${encodeURIComponent(body.metadata.name)}`;
  };
  const remember = (key: string, object: string): void => {
    known.set(key, object);
    const [oldest] = known.keys();
    if (known.size > mostKnown && oldest !== undefined) known.delete(oldest);
  };
  const drain = async (): Promise<void> => {
    for (let job = queue.shift(); job !== undefined && !stop.signal.aborted; job = queue.shift()) {
      await write(job).catch(() => undefined);
    }
    working = undefined;
  };
  return {
    event: (pod, event) => {
      if (queue.length >= longestQueue || stop.signal.aborted) return;
      queue.push({ pod, event });
      working ??= drain();
    },
    close: async () => {
      stop.abort(new Error('the event writer stops'));
      await working;
    },
  };
}

/** The same thing once more. @returns false when its object is gone: the server drops events after an hour */
async function countUp(
  client: KubernetesClient,
  object: string,
  { lastAt, count }: PodEvent,
  signal: AbortSignal,
): Promise<boolean> {
  const body = { lastTimestamp: formatTime(lastAt), count };
  try {
    await client.request('PATCH', object, { signal, body, contentType: 'application/merge-patch+json' });
    return true;
  } catch (error) {
    if (error instanceof KubernetesError && error.status === 404) return false;
    throw error;
  }
}

function describeEvent({ metadata }: Pod, event: PodEvent, node: string, unique: string) {
  const { namespace, name, uid } = metadata;
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { namespace, name: `${name}.${unique}`.slice(-253) },
    involvedObject: { apiVersion: 'v1', kind: 'Pod', namespace, name, uid },
    type: event.type,
    reason: event.reason,
    message: event.message.slice(0, 1024),
    source: { component: 'podwire', host: node },
    firstTimestamp: formatTime(event.at),
    lastTimestamp: formatTime(event.lastAt),
    count: event.count,
  };
}
