/** A cluster as the compiler is told of it, and what changes from one to the next. */
import { type AnyObject, findKind } from '@podwire/objects';
import { type InputChange, translateObject } from '@podwire/policy';
import type { Cluster } from '@podwire/policy-evaluator';

function read(object: AnyObject): AnyObject {
  const kind = findKind(object);
  if (kind === undefined) throw new Error(`no such kind: ${object.kind}`);
  return kind.schema.parse(object);
}

const factsOf = ({ pods, namespaces = [], nodes, services = [] }: Cluster): InputChange[] => [
  ...nodes.map((value): InputChange => ({ topic: 'node', key: value.name, value })),
  ...namespaces.map(({ name, labels }): InputChange => {
    const value = { name, labels: { ...labels, 'kubernetes.io/metadata.name': name } };
    return { topic: 'namespace', key: name, value };
  }),
  ...pods.map((value): InputChange => ({ topic: 'pod', key: `${value.namespace}/${value.name}`, value })),
  ...services.map((value): InputChange => ({
    topic: 'service',
    key: `${value.namespace}/${value.name}`,
    value,
  })),
];

export const changesOf = (cluster: Cluster): InputChange[] => [
  ...factsOf(cluster),
  ...cluster.objects.flatMap((object) => translateObject(read(object))),
];

const keyOf = ({ topic, key }: InputChange): string => `${topic} ${key}`;

/** From one cluster to the next: what is there now, and what has gone. */
export function difference(before: Cluster, after: Cluster): InputChange[] {
  const wanted = changesOf(after);
  const keys = new Set(wanted.map(keyOf));
  const old = new Map(changesOf(before).map((change) => [keyOf(change), JSON.stringify(change)]));
  const put = wanted.filter((change) => old.get(keyOf(change)) !== JSON.stringify(change));
  const gone = changesOf(before).filter((change) => !keys.has(keyOf(change)));
  return [...put, ...gone.map(({ topic, key }) => ({ topic, key, value: undefined }))];
}
