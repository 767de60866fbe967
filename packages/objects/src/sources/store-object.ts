/** Objects as they lie in a store: `/podwire/objects/<group, or core>/<Kind>/<namespace or _>/<name>`. */
import { decodeObject, encodeObject, type Item, type ObjectKind, type Revision } from '@podwire/store';
import { z } from 'zod';
import {
  type AnyObject,
  type ObjectReference,
  type Origin,
  referenceOf,
  type StoredObject,
  type UnreadableObject,
} from '../contract.js';
import { kinds } from '../kinds/index.js';
import { checkObject } from '../reading/check-object.js';
import { formatPath } from '@podwire/apimachinery';
import { groupOf } from '../registry.js';
import { messageOf } from './failures.js';

const origin = z.strictObject({
  file: z.string().max(4096),
  line: z.int().min(0),
  lines: z.record(z.string().max(256), z.int().min(0)).optional(),
});

const envelope: ObjectKind<{
  object: Record<string, unknown>;
  origin?: Origin | undefined;
  created: number;
}> = {
  name: 'object',
  version: 1,
  schema: z.strictObject({
    object: z.record(z.string(), z.unknown()),
    origin: origin.optional(),
    created: z.number().min(0),
  }),
  migrations: {},
};

const wholeCluster = '_';
const coreGroup = 'core';

/** The prefix of all objects of a store. */
export const objectsPrefix = (root: string): string => `${root}/objects/`;

/** The prefix of all objects of an API group. */
export function groupPrefix(root: string, reference: Pick<ObjectReference, 'apiVersion'>): string {
  const group = groupOf(reference);
  return `${objectsPrefix(root)}${group === '' ? coreGroup : group}/`;
}

export function keyOf(root: string, { apiVersion, kind, namespace, name }: ObjectReference): string {
  return groupPrefix(root, { apiVersion }) + [kind, namespace ?? wholeCluster, name].join('/');
}

/** The object of a key. Of a kind that is not known here the version is unknown, too. */
export function referenceOfKey(root: string, key: string): ObjectReference {
  const rest = key.slice(objectsPrefix(root).length);
  const [group = '', kind = '', namespace = '', ...name] = rest.split('/');
  const own = group === coreGroup ? '' : group;
  const found = kinds.find((each) => each.kind === kind && groupOf(each) === own);
  if (name.length === 0) return { apiVersion: 'unknown', kind: 'unknown', name: rest };
  return {
    apiVersion: found?.apiVersion ?? (own === '' ? 'unknown' : `${own}/unknown`),
    kind,
    name: name.join('/'),
    ...(namespace !== wholeCluster && { namespace }),
  };
}

/** @throws PodwireError OBJECT_INVALID for one that is too long */
export function encode(object: AnyObject, from: Origin | undefined, created: number): string {
  const plain = JSON.parse(JSON.stringify(object)) as Record<string, unknown>;
  return encodeObject(envelope, { object: plain, created, ...(from !== undefined && { origin: from }) });
}

export type Decoded =
  | { readonly stored: StoredObject; readonly unreadable?: undefined }
  | { readonly stored?: undefined; readonly unreadable: UnreadableObject };

/** Never throws: what cannot be read says so. */
export function decode(root: string, item: Item): Decoded {
  const reference = referenceOfKey(root, item.key);
  try {
    const { object, origin: from, created } = decodeObject(envelope, item.key, item.value);
    return check(root, reference, object, item, from, created);
  } catch (error) {
    return { unreadable: unreadableOf(reference, item, [messageOf(error)]) };
  }
}

function check(
  root: string,
  reference: ObjectReference,
  content: unknown,
  { key, revision }: Item,
  from: Origin | undefined,
  created: number,
): Decoded {
  const checked = checkObject(content, { keepStatus: true });
  const problems = checked.ok
    ? findStranger(root, checked.object, key)
    : checked.problems.map(({ path, message }) => `${formatPath(path)}: ${message}`);
  if (checked.ok && problems.length === 0) {
    const known = from === undefined ? {} : { origin: from };
    return { stored: { object: checked.object, revision, created, ...known } };
  }
  return { unreadable: { ...unreadableOf(reference, { key, revision }, problems, from), content } };
}

function findStranger(root: string, object: AnyObject, key: string): string[] {
  const home = keyOf(root, referenceOf(object));
  return home === key ? [] : [`this object belongs to ${home}`];
}

const unreadableOf = (
  reference: ObjectReference,
  { key, revision }: { readonly key: string; readonly revision: Revision },
  messages: readonly string[],
  { file, line }: { readonly file: string; readonly line: number } = { file: key, line: 1 },
): UnreadableObject => ({
  reference,
  revision,
  problems: messages.map((message) => ({ file, line, message })),
});
