import type { PodEventRecord } from '@podwire/podlet';

/** Whose events are meant; pure. A name without namespace may be in any. */
export function selectEvents(
  pod: string | undefined,
  namespace: string | undefined,
): (event: Pick<PodEventRecord, 'namespace' | 'name'>) => boolean {
  const parts = (pod ?? '').replace(/^pod\//, '').split('/');
  const name = parts.at(-1)!;
  const within = parts.length > 1 ? parts[0] : namespace;
  return (event) =>
    (within === undefined || event.namespace === within) && (name === '' || event.name === name);
}
