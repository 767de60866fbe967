import { createHash } from 'node:crypto';
import type { Container } from '@podwire/pod-spec';

const hashes = new WeakMap<Container, string>();

/**
 * Two specifications with different hashes need different containers. Values that are empty do not count, so that a
 * newer Podwire which defaults one more field does not restart everything.
 */
export function hashContainer(container: Container): string {
  const known = hashes.get(container);
  if (known !== undefined) return known;
  const hash = createHash('sha256')
    .update(JSON.stringify(canonical(container)))
    .digest('hex')
    .slice(0, 16);
  hashes.set(container, hash);
  return hash;
}

function canonical(value: unknown, inSecurityContext = false): unknown {
  if (Array.isArray(value)) return value.map((each) => canonical(each));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value)
    .map(([key, each]) => [key, canonical(each, key === 'securityContext')] as const)
    // There, false is something else than nothing: `runAsNonRoot: false` overrules the pod's.
    .filter(([, each]) => (inSecurityContext && each === false) || !isEmpty(each))
    .sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries);
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === '') return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}
