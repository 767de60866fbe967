import type { MarkedThing, Resource } from '@podwire/engine';
import { hasCode } from '@podwire/linux';
import {
  type Command,
  type Element,
  type Nftables,
  parseBody,
  type SetReference,
  type TableReference,
} from '@podwire/nftables';
import { TABLE_PREFIX } from '../marks.js';
import { elementKey, joinKey } from './kinds.js';
import { tableKey } from '../keys.js';
import { chainKey, describeChainOf, describeSetOf, nameTable, setKey } from './own-table-kinds.js';
import type { NftOwnTable, NftTable } from './resources.js';

export interface Leftover extends MarkedThing {
  /** Removes the leftover. */
  readonly command: Command;
}

/** Contents of wanted tables, and tables whose name has our prefix. An entry that others refer to comes after them. */
export function listMarked(nftables: Nftables, wanted: readonly Resource[]): Leftover[] {
  const tables = wanted.filter((resource): resource is NftTable => resource.kind === 'nft-table');
  const own = wanted.filter((resource): resource is NftOwnTable => resource.kind === 'nft-own-table');
  return [
    ...tables.flatMap((table) => managedSets(table.body).flatMap((set) => elementsOf(nftables, table, set))),
    ...own.flatMap((table) => contentsOf(nftables, table)),
    ...nftables
      .listTables()
      .filter(({ name }) => name.startsWith(TABLE_PREFIX))
      .map(({ family, name }): Leftover => ({
        key: tableKey({ family, name }),
        what: `nftables table ${nameTable({ family, name })}`,
        command: { op: 'delete-table', family, name },
      })),
  ];
}

function elementsOf(nftables: Nftables, { family, name }: TableReference, set: string): Leftover[] {
  const reference = { family, table: name, set } as SetReference & Pick<NftTable, 'family'>;
  return listElements(nftables, reference).map(({ key }) => ({
    key: elementKey({ ...reference, key }),
    what: `element ${joinKey({ key })} of set ${set}`,
    command: { op: 'destroy', ...reference, key },
  }));
}

/** Everything in a table of which each part is a resource. */
function contentsOf(nftables: Nftables, table: NftOwnTable): Leftover[] {
  const { family, name } = table;
  const place = { family, table: name };
  const sets = nftables.listSets(family, name);
  return [
    // Elements of a set of types that are unknown here go with the set.
    ...sets.filter(({ key }) => key.length > 0).flatMap((set) => elementsOf(nftables, table, set.name)),
    ...nftables.listChains(family, name).map((chain): Leftover => ({
      key: chainKey(place, chain.name),
      what: describeChainOf(place, chain.name),
      command: { op: 'delete-chain', ...place, name: chain.name },
    })),
    ...sets.map((set): Leftover => ({
      key: setKey(place, set.name),
      what: describeSetOf(place, set.name),
      command: { op: 'delete-set', ...place, name: set.name },
    })),
  ];
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

/** A transaction is carried out whole or not at all: when it is refused, each thing gets one of its own. */
export function pruneBatch(nftables: Nftables, things: readonly Leftover[]): Map<MarkedThing, unknown> {
  const failures = new Map<MarkedThing, unknown>();
  if (attempt(nftables, things, undefined)) return failures;
  for (const thing of things) attempt(nftables, [thing], failures);
  return failures;
}

function attempt(
  nftables: Nftables,
  things: readonly Leftover[],
  failures: Map<MarkedThing, unknown> | undefined,
): boolean {
  try {
    nftables.transact(things.map(({ command }) => command));
    return true;
  } catch (error) {
    for (const thing of things) failures?.set(thing, error);
    return false;
  }
}
