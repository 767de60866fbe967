import { createHash } from 'node:crypto';
import type { NetlinkConnection } from '@podwire/netlink';
import { decodeRawElements } from './decode.js';
import type { Declaration } from './declarations.js';
import type { ElementChange } from './element.js';
import { getElementRequest, listElementsRequest } from './element-request.js';
import { requestExisting } from './lookup.js';
import type { Family } from './protocol.js';
import { readStructure, type Structure } from './structure.js';
import type { Value } from './values.js';

/**
 * A table remembers what it was made from in a set of its own, in the comments of its elements:
 *
 *     set structure_seal { type mark; elements = { 0 comment "table BODY SEAL", 1 comment "set NAME HANDLE TEXT", … } }
 *
 * BODY and TEXT are digests of what was declared, SEAL is one of the handles that the kernel gave to everything in the
 * table. The kernel never gives a handle twice, and a changed rule is a new rule, so a program that adds, deletes or changes
 * a chain, rule or set behind our back breaks the seal.
 */
export const SEAL_SET = 'structure_seal';

/** A table as it is to be: what stands between the braces of `table FAMILY NAME { … }`. */
export interface TableDeclaration {
  readonly family: Family;
  readonly name: string;
  readonly body: string;
}

/** Part of the digest: raised when the same body is to be applied anew by a newer version of this library. */
const FORMAT = 1;

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

/** Digest that `tableDigest` gives back while the table stands as it was declared. */
export function digestTable({ family, name, body }: TableDeclaration): string {
  return digest(JSON.stringify([FORMAT, family, name, body]));
}

/** A number that changes with everything but elements and counters. */
function sealOf({ table, chains, rules, sets, objects }: Structure): string {
  const parts = [
    [String(table.handle)],
    chains.map(({ name, handle, hook }) => `${name} ${handle} ${JSON.stringify(hook)}`).sort(),
    rules.map(({ chain, handle }) => `${chain} ${handle}`),
    sets.map(({ name, handle }) => `${name} ${handle}`).sort(),
    objects.map(({ name, type }) => `${name} ${type}`).sort(),
  ];
  return digest(JSON.stringify(parts));
}

const key = (number: number): readonly Value[] => [{ type: 'mark', value: number }];

/** nft's limit for comments, which must still load when a listing is loaded again. */
const COMMENT_LIMIT = 128;

/** The elements that seal a table. A set whose name is too long for a comment is not remembered. */
export function sealElements(
  declaration: TableDeclaration,
  declarations: readonly Declaration[],
  structure: Structure,
): ElementChange[] {
  const { family, name } = declaration;
  const handles = new Map(structure.sets.map((set) => [set.name, set.handle]));
  const comments = declarations
    .filter(({ name: set }) => handles.has(set))
    .map((set) => `set ${set.name} ${handles.get(set.name)} ${digest(set.text)}`)
    .filter((comment) => comment.length <= COMMENT_LIMIT);
  return [`table ${digestTable(declaration)} ${sealOf(structure)}`, ...comments].map((comment, number) => ({
    op: 'create',
    family,
    table: name,
    set: SEAL_SET,
    key: key(number),
    comment,
  }));
}

/**
 * The digest of the declaration that a table stands for; `undefined` when there is no such table, when it was not
 * made by this library, or when it was changed since. No program is started.
 */
export function readDigest(connection: NetlinkConnection, family: Family, name: string): string | undefined {
  const request = getElementRequest({ family, table: name, set: SEAL_SET, key: key(0) });
  const [answer] = requestExisting(connection, [request]);
  const comment = answer?.flatMap(decodeRawElements)[0]?.comment ?? '';
  const [, body, seal] = /^table ([0-9a-f]{32}) ([0-9a-f]{32})$/.exec(comment) ?? [];
  if (body === undefined) return undefined;
  const structure = readStructure(connection, family, name);
  return structure !== undefined && sealOf(structure) === seal ? body : undefined;
}

/** The sets of a table that stand just as they are declared. */
export function unchangedSets(
  connection: NetlinkConnection,
  structure: Structure,
  declarations: readonly Declaration[],
): Set<string> {
  const { family, name: table } = structure.table;
  if (!structure.sets.some(({ name }) => name === SEAL_SET)) return new Set();
  const comments = new Set(
    connection
      .dump(listElementsRequest({ family, table, set: SEAL_SET }))
      .flatMap(decodeRawElements)
      .map(({ comment }) => comment),
  );
  const handles = new Map(structure.sets.map((set) => [set.name, set.handle]));
  const unchanged = declarations.filter(({ name, text }) =>
    comments.has(`set ${name} ${handles.get(name)} ${digest(text)}`),
  );
  return new Set(unchanged.map(({ name }) => name));
}
