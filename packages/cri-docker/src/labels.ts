/** The facts of a sandbox or container that Docker's labels keep. Docker has no annotations, so they are labels with a prefix. */

export const labelKeys = {
  type: 'io.kubernetes.docker.type',
  containerName: 'io.kubernetes.container.name',
  sandboxId: 'io.kubernetes.sandbox.id',
  logPath: 'io.kubernetes.container.logpath',
  podName: 'io.kubernetes.pod.name',
  podNamespace: 'io.kubernetes.pod.namespace',
  podUid: 'io.kubernetes.pod.uid',
} as const;

/** The directory of the service that made it. */
export const ownerKey = 'io.podwire.sandbox.root';

export const sandboxType = 'podsandbox';
export const containerType = 'container';

const annotationPrefix = 'annotation.';
const own: readonly string[] = [labelKeys.type, labelKeys.sandboxId, labelKeys.logPath, ownerKey];

type Map = Readonly<Record<string, string>>;

/** @param extra labels of this service, which win */
export function encodeLabels(labels: Map, annotations: Map, extra: Map): Record<string, string> {
  const prefixed = Object.entries(annotations).map(([key, value]) => [`${annotationPrefix}${key}`, value]);
  return { ...labels, ...(Object.fromEntries(prefixed) as Map), ...extra };
}

export interface DecodedLabels {
  readonly labels: Record<string, string>;
  readonly annotations: Record<string, string>;
}

/** The labels and annotations that were asked for, without those of this service. */
export function decodeLabels(stored: Map | null | undefined, type: string): DecodedLabels {
  const labels: Record<string, string> = {};
  const annotations: Record<string, string> = {};
  for (const [key, value] of Object.entries(stored ?? {})) {
    if (key.startsWith(annotationPrefix)) annotations[key.slice(annotationPrefix.length)] = value;
    else if (!isOwn(key, value, type)) labels[key] = value;
  }
  return { labels, annotations };
}

/** The name is a label of the kubelet's for containers, and one of this service for sandboxes. */
function isOwn(key: string, value: string, type: string): boolean {
  return own.includes(key) || (type === sandboxType && key === labelKeys.containerName && value === 'POD');
}
