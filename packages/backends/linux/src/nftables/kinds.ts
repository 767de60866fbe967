import { isDeepStrictEqual } from 'node:util';
import type { Kind } from '@podwire/engine';
import { digestTable, type Element } from '@podwire/nftables';
import * as is from '../checks.js';
import { tableKey } from '../keys.js';
import { contentOf } from './commands.js';
import { forwardAccept } from './forward-accept.js';
import {
  chainKey,
  nameTable,
  nftChain,
  nftOwnTable,
  nftSet,
  setKey,
  tableFamily,
  tableOf,
  TRANSACTION,
} from './own-table-kinds.js';
import type { NftablesResources, NftElement, NftTable, NftValue } from './resources.js';

const valueChecks: Readonly<Record<NftValue['type'], is.Check>> = {
  ipv4_addr: is.address,
  ipv6_addr: is.address,
  ipv4_interval: is.prefix,
  ipv6_interval: is.prefix,
  inet_service: is.port,
  inet_proto: is.protocol,
  ifname: is.link,
  mark: is.count,
};
const value = is.variants(
  'type',
  Object.fromEntries(Object.entries(valueChecks).map(([type, check]) => [type, is.record({ value: check })])),
);

const nftTable: Kind<NftTable, string | undefined> = {
  kind: 'nft-table',
  check: is.resource<NftTable>({ family: tableFamily, name: is.text, body: is.anyText }),
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

const nftElement: Kind<NftElement, Element | undefined> = {
  kind: 'nft-element',
  check: is.resource<NftElement>({
    ...{ family: tableFamily, table: is.text, set: is.text },
    ...{ key: is.listOf(value, 1), value: is.optional(is.listOf(value)), chain: is.optional(is.text) },
  }),
  backend: 'nftables',
  batch: TRANSACTION,
  transactional: true,
  place: () => 'host',
  key: elementKey,
  diesWith: (resource) => tableKey(tableOf(resource)),
  after: (resource) => [
    tableKey(tableOf(resource)),
    setKey(resource, resource.set),
    ...(resource.chain === undefined ? [] : [chainKey(resource, resource.chain)]),
  ],
  touches: (resource) => [tableKey(tableOf(resource))],
  describe: ({ set, key, value, chain }) => {
    const data = chain ?? value?.map((part) => part.value).join(' . ');
    const mapped = data === undefined ? '' : ` = ${data}`;
    return `element ${joinKey({ key })} of set ${set}${mapped}`;
  },
  inPlace: true,
  independent: true,
  compare(resource, found) {
    const words = `set ${resource.set}: ${joinKey(resource)}`;
    if (found === undefined) return { missing: `${words} is not in it` };
    const { value, verdict } = contentOf(resource);
    const isSame = isDeepStrictEqual(found.value, value) && isDeepStrictEqual(found.verdict, verdict);
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
  'nft-own-table': nftOwnTable,
  'nft-set': nftSet,
  'nft-chain': nftChain,
} satisfies { [K in keyof NftablesResources]: Kind<NftablesResources[K]> };
