import type { MarkedThing, Resource } from '@podwire/engine';
import { hasCode } from '@podwire/linux';
import {
  type Element,
  type Nftables,
  parseBody,
  type SetReference,
  type TableReference,
} from '@podwire/nftables';
import { TABLE_PREFIX } from '../marks.js';
import { elementKey, joinKey, nameTable, tableKey } from './kinds.js';
import type { NftTable } from './resources.js';

export interface Leftover extends MarkedThing {
  readonly table?: TableReference;
  readonly element?: SetReference & Pick<Element, 'key'>;
}

/** Elements in the sets of tables that are wanted, and tables whose name has our prefix. */
export function listMarked(nftables: Nftables, wanted: readonly Resource[]): Leftover[] {
  const tables = wanted.filter((resource): resource is NftTable => resource.kind === 'nft-table');
  return [
    ...tables.flatMap((table) => elementsOf(nftables, table)),
    ...nftables
      .listTables()
      .filter(({ name }) => name.startsWith(TABLE_PREFIX))
      .map((table) => ({ key: tableKey(table), what: `nftables table ${nameTable(table)}`, table })),
  ];
}

function elementsOf(nftables: Nftables, { family, name, body }: NftTable): Leftover[] {
  return managedSets(body).flatMap((set) => {
    const reference = { family, table: name, set };
    return listElements(nftables, reference).map(({ key }) => ({
      key: elementKey({ ...reference, key }),
      what: `element ${joinKey({ key })} of set ${set}`,
      element: { ...reference, key },
    }));
  });
}

/** Sets whose elements stand in the declaration itself, or that packets fill, belong to the table. */
function managedSets(body: string): string[] {
  return parseBody(body)
    .filter(({ kind, text }) => (kind === 'set' || kind === 'map') && !/\b(elements|dynamic)\b/.test(text))
    .map(({ name }) => name);
}

export function listElements(nftables: Nftables, { family, table, set }: SetReference): Element[] {
  try {
    return nftables.listElements(family, table, set);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return []; // no such set: none of its elements either
    throw error;
  }
}

/** A transaction is carried out whole or not at all: when it is refused, each element gets one of its own. */
export function pruneBatch(nftables: Nftables, things: readonly Leftover[]): Map<MarkedThing, unknown> {
  const failures = new Map<MarkedThing, unknown>();
  for (const thing of things.filter(({ table }) => table !== undefined)) {
    const { family, name } = thing.table!;
    attempt([thing], failures, () => nftables.deleteTable(family, name));
  }
  const elements = things.filter(({ element }) => element !== undefined);
  const destroy = (some: readonly Leftover[]): void =>
    nftables.change(some.map(({ element }) => ({ op: 'destroy', ...element! })));
  if (elements.length === 0 || attempt(elements, undefined, () => destroy(elements))) return failures;
  for (const one of elements) attempt([one], failures, () => destroy([one]));
  return failures;
}

function attempt(
  things: readonly Leftover[],
  failures: Map<MarkedThing, unknown> | undefined,
  work: () => void,
): boolean {
  try {
    work();
    return true;
  } catch (error) {
    for (const thing of things) failures?.set(thing, error);
    return false;
  }
}
