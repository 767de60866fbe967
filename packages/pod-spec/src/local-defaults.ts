/** Defaults of the node for a pod that comes from a file or a URL, in the order of kubelet. */
import { createHash } from 'node:crypto';
import { canonicalJson } from './canonical-json.js';
import { localAnnotations, type Pod } from './pod.js';

export interface LocalPlace {
  readonly source: 'file' | 'http';
  /** Absolute path, or URL. */
  readonly origin: string;
  /** Name of the node. */
  readonly node: string;
  /**
   * `node` appends `-NODE` to the names of pods, as kubelet does: pods of the same manifest on several nodes then have
   * names of their own in the API. `none` leaves them.
   */
  readonly nameSuffix: 'node' | 'none';
}

/**
 * The uid of a pod that has none: the same manifest on the same node gives the same one, and an edit another one. In which file it
 * stands does not count, as with kubelet 1.20: a copy, or a file with another name, is no other pod. What is hashed is the manifest as it was written, not the defaults, or pods would restart whenever
 * a new version of Podwire knows a new default.
 */
export function deriveUid(manifest: unknown, { source, origin, node }: LocalPlace): string {
  const places = source === 'file' ? [`host:${node}`] : [`url:${origin}`];
  const hash = createHash('md5').update(canonicalJson(manifest));
  for (const place of places) hash.update(`\0${place}`);
  return hash.digest('hex');
}

/** @param manifest the pod as it was written, for its uid */
export function settlePod(pod: Pod, manifest: unknown, place: LocalPlace): Pod {
  const { metadata, spec } = pod;
  const uid = metadata.uid === '' ? deriveUid(manifest, place) : metadata.uid;
  const suffix = place.nameSuffix === 'node' ? `-${place.node.toLowerCase()}` : '';
  const tolerations = Array.isArray(spec['tolerations']) ? (spec['tolerations'] as unknown[]) : [];
  return {
    ...pod,
    metadata: {
      ...metadata,
      uid,
      name: metadata.name + suffix,
      annotations: {
        ...metadata.annotations,
        [localAnnotations.hash]: uid,
        [localAnnotations.origin]: place.origin,
      },
    },
    spec: {
      ...spec,
      nodeName: place.node,
      // A pod of a file is the node's own: taints of the cluster do not drive it away.
      ...(place.source === 'file'
        ? { tolerations: [...tolerations, { operator: 'Exists', effect: 'NoExecute' }] }
        : {}),
    },
  };
}
