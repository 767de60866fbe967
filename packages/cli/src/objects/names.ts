/** How people name kinds and objects, and how they are named to people. */
import { PodwireError } from '@podwire/errors';
import {
  type KindDefinition,
  type ObjectReference,
  qualifiedName,
  findKind,
  requireKind,
} from '@podwire/objects';

/** `networkpolicies/shop/web`, which `describe` and `get` take again. */
export function shortName(reference: ObjectReference): string {
  const { namespace, name } = reference;
  const kind = findKind(reference);
  const word = kind === undefined ? reference.kind : qualifiedName(kind);
  return [word, namespace, name].filter((part) => part !== undefined).join('/');
}

export function tryKind(word: string): KindDefinition | undefined {
  try {
    return requireKind(word);
  } catch {
    return undefined;
  }
}

/** `NAME` or `NAMESPACE/NAME`. @throws PodwireError REQUEST_INVALID for a namespace where there is none */
export function toReference(
  kind: KindDefinition,
  text: string,
  namespace: string | undefined,
): ObjectReference {
  const { apiVersion, kind: own, namespaced } = kind;
  const [first = '', second] = text.split('/');
  if (!namespaced && second !== undefined)
    throw new PodwireError('REQUEST_INVALID', `${text}: a ${own} lies in no namespace`);
  const name = second ?? first;
  if (!namespaced) return { apiVersion, kind: own, name };
  const where = second === undefined ? (namespace ?? 'default') : first;
  return { apiVersion, kind: own, name, namespace: where };
}

/** `KIND NAME…`, or `KIND/NAME` and `KIND/NAMESPACE/NAME` in one word. */
export function readTarget(words: readonly string[]): {
  readonly kind: KindDefinition;
  readonly names: readonly string[];
} {
  const [first = '', ...names] = words;
  const slash = first.indexOf('/');
  if (slash < 0) return { kind: requireKind(first), names };
  return { kind: requireKind(first.slice(0, slash)), names: [first.slice(slash + 1), ...names] };
}

export const unknownObject = (reference: ObjectReference, source: string): PodwireError =>
  new PodwireError('OBJECT_UNKNOWN', `there is no ${shortName(reference)} in ${source}`);
