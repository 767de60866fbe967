/** Facts that other nodes publish about their pods, from the store. */
import {
  folders,
  Informer,
  type Keys,
  ObjectCache,
  type PodFacts,
  podFactsKind,
} from '@podwire/cluster-state';
import type { PodKey } from '@podwire/policy';
import type { Store } from '@podwire/store';
import type { Log } from '../../log.js';

export interface RemoteFacts {
  readonly synced: Promise<void>;
  readonly unreadable: ReadonlyMap<string, string>;
  close(): Promise<void>;
}

export type NoteRemote = (
  key: string,
  pod: PodKey,
  stored: { readonly value: PodFacts; readonly revision: number } | undefined,
) => void;

/**
 * @param note called for each pod that has changed
 * @param flush called after each batch
 */
export function followRemoteFacts(
  { store, keys, log }: { readonly store: Store; readonly keys: Keys; readonly log: Log },
  note: NoteRemote,
  flush: () => void,
): RemoteFacts {
  const cache = new ObjectCache({
    kind: podFactsKind,
    nameOf: (_, key) => key,
    keyOf: ({ node, namespace, name }) => keys.podFacts(node, namespace, name),
  });
  const prefix = `${keys.root}/${folders.podFacts}`;
  const informer = new Informer<'pods'>({ store, prefix, folders: { pods: { prefix, cache } }, log });
  informer.onChange(({ pods }) => {
    for (const key of pods) note(key, podOf(key, prefix), cache.objects.get(key));
    if (pods.size > 0) flush();
  });
  return {
    synced: informer.synced,
    unreadable: informer.unreadable,
    close: () => informer.close(),
  };
}

/** `…/pod-facts/NODE/NAMESPACE/NAME` */
const podOf = (key: string, prefix: string): PodKey => key.slice(prefix.length).split('/').slice(1).join('/');
