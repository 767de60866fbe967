import path from 'node:path';
import { stringify } from 'yaml';
import type { AnyObject, ObjectReference } from '../../contract.js';
import { groupOf } from '../../registry.js';

/** Objects as people would write them; JSON where the file is one. */
export function formatObjects(file: string, objects: readonly AnyObject[]): string {
  if (file.endsWith('.json')) {
    const [only] = objects;
    const whole = objects.length === 1 ? only : { apiVersion: 'v1', kind: 'List', items: objects };
    return `${JSON.stringify(whole, undefined, 2)}\n`;
  }
  // The way through JSON leaves out what is undefined.
  const plain = objects.map((object) => JSON.parse(JSON.stringify(object)) as unknown);
  return plain
    .map((object) => stringify(object, { lineWidth: 0, aliasDuplicateObjects: false }))
    .join('---\n');
}

/** `networkpolicy.networking.k8s.io_shop_web.yaml`; with a number where a file of that name has other objects. */
export function chooseFile(
  directory: string,
  reference: ObjectReference,
  isTaken: (file: string) => boolean,
): string {
  const { kind, namespace, name } = reference;
  const group = groupOf(reference);
  const parts = [kind.toLowerCase() + (group === '' ? '' : `.${group}`), namespace, name];
  const stem = parts.filter((part) => part !== undefined).join('_');
  // Names of files have 255 bytes at most; the number tells apart what the cut makes equal.
  const short = stem.slice(0, 200);
  for (let number = 1; ; number++) {
    const file = path.join(directory, `${short}${number === 1 && short === stem ? '' : `.${number}`}.yaml`);
    if (!isTaken(file)) return file;
  }
}
