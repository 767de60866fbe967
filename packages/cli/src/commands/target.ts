/** How people name what they mean: `pod/NAME`, `pod/NAMESPACE/NAME`, a container id, `node`. */
import type { Trace } from '../api/shapes.js';

/** The target as the agent knows it: `pod/` is for people, and a namespace option goes in front of a bare name. */
export function readTarget(text: string, namespace?: string): string {
  const name = text.startsWith('pod/') ? text.slice('pod/'.length) : text;
  return namespace === undefined || name.includes('/') ? name : `${namespace}/${name}`;
}

/** Reports if a trace is about the target: the pod with or without its namespace, the container, or the whole key. */
export function isAbout({ pod, endpoint }: Pick<Trace, 'pod' | 'endpoint'>, target: string): boolean {
  if (pod !== undefined && (pod === target || pod.endsWith(`/${target}`))) return true;
  return endpoint !== undefined && (endpoint === target || endpoint.split(',')[1] === target);
}
