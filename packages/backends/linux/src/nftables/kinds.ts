import { isDeepStrictEqual } from 'node:util';
import type { Kind } from '@podwire/engine';
import { digestTable, type Element, type TableReference } from '@podwire/nftables';
import * as is from '../checks.js';
import { forwardAccept } from './forward-accept.js';
import type { NftablesResources, NftElement, NftTable, NftValue } from './resources.js';

export const nameTable = ({ family, name }: TableReference): string => `${family} ${name}`;

const tableFamily = is.oneOf('ip', 'ip6', 'inet');

const valueChecks: Readonly<Record<NftValue['type'], is.Check>> = {
  ipv4_addr: is.address,
  ipv6_addr: is.address,
  ipv4_interval: is.prefix,
  ipv6_interval: is.prefix,
  inet_service: is.port,
  inet_proto: is.protocol,
  ifname: is.link,
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

export function tableKey(table: TableReference): string {
  return `nft-table ${nameTable(table)}`;
}

const nftElement: Kind<NftElement, Element | undefined> = {
  kind: 'nft-element',
  check: is.resource<NftElement>({
    ...{ family: tableFamily, table: is.text, set: is.text },
    ...{ key: is.listOf(value, 1), value: is.optional(is.listOf(value)) },
  }),
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
