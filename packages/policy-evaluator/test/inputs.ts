/** A cluster as the inputs of a compiler: facts as they are, objects through their schemas and the translation. */
import { type AnyObject, findKind } from '@podwire/objects';
import { type InputChange, type PolicyInputs, translateObject } from '@podwire/policy';
import type { Cluster, Namespace } from '../src/index.js';

export type InputMaps = { readonly [T in keyof PolicyInputs]: Map<string, PolicyInputs[T]> };

/** @throws Error naming the object that its schema refuses */
export function readObject(object: AnyObject): AnyObject {
  const kind = findKind(object);
  if (kind === undefined) throw new Error(`no such kind: ${object.apiVersion} ${object.kind}`);
  return kind.schema.parse(object);
}

const factOfNamespace = ({ name, labels }: Namespace): PolicyInputs['namespace'] => ({
  name,
  labels: { ...labels, 'kubernetes.io/metadata.name': name },
});

/** Everything that a compiler reads of the cluster. */
export function changesOf({ objects, pods, namespaces = [], nodes, services = [] }: Cluster): InputChange[] {
  return [
    ...nodes.map((value): InputChange => ({ topic: 'node', key: value.name, value })),
    ...namespaces.map((each): InputChange => ({
      topic: 'namespace',
      key: each.name,
      value: factOfNamespace(each),
    })),
    ...pods.map((value): InputChange => ({ topic: 'pod', key: `${value.namespace}/${value.name}`, value })),
    ...services.map((value): InputChange => ({
      topic: 'service',
      key: `${value.namespace}/${value.name}`,
      value,
    })),
    ...objects.flatMap((object) => translateObject(readObject(object))),
  ];
}

const keyOf = ({ topic, key }: InputChange): string => `${topic} ${key}`;

/** The changes between two clusters, and nothing else. */
export function difference(before: Cluster, after: Cluster): InputChange[] {
  const old = new Map(changesOf(before).map((change) => [keyOf(change), change]));
  const wanted = new Map(changesOf(after).map((change) => [keyOf(change), change]));
  const put = [...wanted.values()].filter(
    (change) => JSON.stringify(old.get(keyOf(change))) !== JSON.stringify(change),
  );
  const gone = [...old.values()].filter((change) => !wanted.has(keyOf(change)));
  return [...put, ...gone.map(({ topic, key }) => ({ topic, key, value: undefined }))];
}

export function collect(changes: readonly InputChange[]): InputMaps {
  const maps: InputMaps = {
    pod: new Map(),
    namespace: new Map(),
    node: new Map(),
    service: new Map(),
    'network-set': new Map(),
    'host-endpoint': new Map(),
    domain: new Map(),
    tier: new Map(),
    policy: new Map(),
    profile: new Map(),
  };
  for (const { topic, key, value } of changes)
    if (value !== undefined) (maps[topic] as Map<string, unknown>).set(key, value);
  return maps;
}
