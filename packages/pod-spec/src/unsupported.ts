import { formatPath } from '@podwire/apimachinery';
import { Field } from './field.js';
import { readPod } from './pod-shape.js';
import type { Pod } from './pod.js';

/** What a pod of the API says that would change what it does or may do, and that cannot be honoured. A manifest with it is refused. */
export function findUnsupported(pod: Pod): string[] {
  const found: string[] = [];
  readPod(
    new Field(pod, {
      strict: false,
      report: () => undefined,
      unsupported: (path, message) => void found.push(`${formatPath(path)}: ${message}`),
    }),
  );
  return found;
}
