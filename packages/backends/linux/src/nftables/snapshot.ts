import type { Snapshot } from '@podwire/engine';
import type { ChainState, Element, Nftables, SetDeclaration, TableReference } from '@podwire/nftables';
import { joinKey } from './kinds.js';
import { listElements } from './prune.js';
import { nameTable, tableOf } from './own-table-kinds.js';
import type { NftChain, NftElement, NftOwnTable, NftSet } from './resources.js';

interface TableContent {
  readonly chains: ReadonlyMap<string, ChainState>;
  readonly sets: ReadonlyMap<string, SetDeclaration>;
}

/** Sets and tables, each read whole when something of it is first asked for. */
export class TableSnapshot implements Snapshot {
  readonly #nftables: Nftables;
  readonly #elements = new Map<string, ReadonlyMap<string, Element>>();
  readonly #contents = new Map<string, TableContent>();
  #tables: ReadonlySet<string> | undefined;

  constructor(nftables: Nftables) {
    this.#nftables = nftables;
  }

  hasTable(wanted: NftOwnTable): boolean {
    this.#tables ??= new Set(this.#nftables.listTables().map(nameTable));
    return this.#tables.has(nameTable(wanted));
  }

  findChain(wanted: NftChain): ChainState | undefined {
    return this.#contentOf(tableOf(wanted)).chains.get(wanted.chain.name);
  }

  findSet(wanted: NftSet): SetDeclaration | undefined {
    return this.#contentOf(tableOf(wanted)).sets.get(wanted.set.name);
  }

  findElement(wanted: NftElement): Element | undefined {
    const name = `${wanted.family} ${wanted.table} ${wanted.set}`;
    let elements = this.#elements.get(name);
    if (elements === undefined) {
      elements = new Map(listElements(this.#nftables, wanted).map((element) => [joinKey(element), element]));
      this.#elements.set(name, elements);
    }
    return elements.get(joinKey(wanted));
  }

  #contentOf(table: TableReference): TableContent {
    const name = nameTable(table);
    let content = this.#contents.get(name);
    if (content === undefined) {
      content = readContent(this.#nftables, table);
      this.#contents.set(name, content);
    }
    return content;
  }

  readAhead(): Promise<void> {
    return Promise.resolve();
  }
}

function readContent(nftables: Nftables, { family, name }: TableReference): TableContent {
  const byName = <T extends { readonly name: string }>(all: readonly T[]): Map<string, T> =>
    new Map(all.map((one) => [one.name, one]));
  return {
    chains: byName(nftables.listChains(family, name)),
    sets: byName(nftables.listSets(family, name)),
  };
}
