import { isDeepStrictEqual } from 'node:util';
import type { Kind } from '@podwire/engine';
import { digestTable, type Element, type TableReference } from '@podwire/nftables';
import { forwardAccept } from './forward-accept.js';
import type { NftablesResources, NftElement, NftTable } from './resources.js';

export const nameTable = ({ family, name }: TableReference): string => `${family} ${name}`;

const nftTable: Kind<NftTable, string | undefined> = {
  kind: 'nft-table',
  backend: 'nftables',
  batch: 'ruleset',
  place: () => 'host',
  key: tableKey,
  describe: (resource) => `nftables table ${nameTable(resource)}`,
  // It is replaced in one transaction, but its sets are empty then.
  inPlace: false,
  compare(resource, found) {
    if (found === digestTable(resource)) return undefined;
    const name = nameTable(resource);
    return found === undefined
      ? { missing: `there is no table ${name} of ours` }
      : `table ${name} has another body`;
  },
};

export function tableKey(table: TableReference): string {
  return `nft-table ${nameTable(table)}`;
}

const nftElement: Kind<NftElement, Element | undefined> = {
  kind: 'nft-element',
  backend: 'nftables',
  batch: 'elements',
  place: () => 'host',
  key: elementKey,
  describe: ({ set, key, value }) => {
    const mapped = value === undefined ? '' : ` = ${value.map((part) => part.value).join(' . ')}`;
    return `element ${joinKey({ key })} of set ${set}${mapped}`;
  },
  inPlace: true,
  independent: true,
  compare(resource, found) {
    const words = `set ${resource.set}: ${joinKey(resource)}`;
    if (found === undefined) return { missing: `${words} is not in it` };
    const isSame = isDeepStrictEqual(found.value ?? [], resource.value ?? []);
    return isSame ? undefined : `${words} has another value`;
  },
};

export function elementKey({
  family,
  table,
  set,
  key,
}: Pick<NftElement, 'family' | 'table' | 'set'> & Pick<Element, 'key'>): string {
  return `nft-element ${family} ${table} ${set} ${joinKey({ key })}`;
}

/** The same for equal keys. */
export function joinKey({ key }: Pick<Element, 'key'>): string {
  return key.map((part) => part.value).join(' . ');
}

export const nftablesKinds = {
  'nft-table': nftTable,
  'nft-element': nftElement,
  'forward-accept': forwardAccept,
} satisfies { [K in keyof NftablesResources]: Kind<NftablesResources[K]> };
