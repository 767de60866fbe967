import type { ListOptions, ObjectReference } from '../contract.js';

/** True if a list asks for this object. */
export function selects({ kinds, namespace }: ListOptions, reference: ObjectReference): boolean {
  if (namespace !== undefined && reference.namespace !== namespace) return false;
  return (
    kinds === undefined ||
    kinds.some(({ apiVersion, kind }) => apiVersion === reference.apiVersion && kind === reference.kind)
  );
}
