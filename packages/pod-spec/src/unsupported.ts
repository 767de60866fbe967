import { formatPath } from '@podwire/apimachinery';
import { Field } from './field.js';
import { readPod } from './pod-shape.js';
import type { Pod } from './pod.js';

/** Fields of an API pod that would change its behaviour and cannot be honoured. A manifest with one is refused. */
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
