/** Tables that are made through netlink, with sets and chains that are resources of their own. */
import { isDeepStrictEqual } from 'node:util';
import type { Kind } from '@podwire/engine';
import {
  type ChainState,
  isChainAsDeclared,
  type SetDeclaration,
  type TableReference,
} from '@podwire/nftables';
import * as is from '../checks.js';
import { tableKey } from '../keys.js';
import type { NftChain, NftOwnTable, NftSet } from './resources.js';
import { chainCheck, setCheck } from './rule-checks.js';

/** They travel with elements: what refers to each other is made in one transaction. */
export const TRANSACTION = 'transaction';

export const tableFamily = is.oneOf('ip', 'ip6', 'inet');

export const nameTable = ({ family, name }: TableReference): string => `${family} ${name}`;

export const tableOf = ({ family, table }: Pick<NftSet, 'family' | 'table'>): TableReference => ({
  family,
  name: table,
});

type Place = Pick<NftSet, 'family' | 'table'>;

export const setKey = ({ family, table }: Place, name: string): string =>
  `nft-set ${family} ${table} ${name}`;
export const chainKey = ({ family, table }: Place, name: string): string =>
  `nft-chain ${family} ${table} ${name}`;

export const describeSetOf = ({ family, table }: Place, name: string): string =>
  `set ${name} of ${family} ${table}`;
export const describeChainOf = ({ family, table }: Place, name: string): string =>
  `chain ${name} of ${family} ${table}`;

export const nftOwnTable: Kind<NftOwnTable, boolean> = {
  kind: 'nft-own-table',
  check: is.resource<NftOwnTable>({ family: tableFamily, name: is.text }),
  backend: 'nftables',
  batch: TRANSACTION,
  transactional: true,
  place: () => 'host',
  key: tableKey,
  describe: (resource) => `nftables table ${nameTable(resource)}`,
  inPlace: true,
  compare: (resource, isThere) =>
    isThere ? undefined : { missing: `there is no table ${nameTable(resource)}` },
};

export const nftSet: Kind<NftSet, SetDeclaration | undefined> = {
  kind: 'nft-set',
  check: is.resource<NftSet>({ family: tableFamily, table: is.text, set: setCheck }),
  backend: 'nftables',
  batch: TRANSACTION,
  transactional: true,
  place: () => 'host',
  key: (resource) => setKey(resource, resource.set.name),
  describe: (resource) => describeSetOf(resource, resource.set.name),
  diesWith: (resource) => tableKey(tableOf(resource)),
  touches: (resource) => [tableKey(tableOf(resource))],
  // Its elements go with the old one.
  inPlace: false,
  compare(resource, found) {
    const words = describeSetOf(resource, resource.set.name);
    if (found === undefined) return { missing: `${words} is not there` };
    return isDeepStrictEqual(typesOf(found), typesOf(resource.set))
      ? undefined
      : `${words} is declared differently`;
  },
};

/** The part of a declaration that is compared: names and comments do not matter. */
const typesOf = ({ key, interval = false, data }: SetDeclaration): unknown => ({ key, interval, data });

export const nftChain: Kind<NftChain, ChainState | undefined> = {
  kind: 'nft-chain',
  check: is.resource<NftChain>({ family: tableFamily, table: is.text, chain: chainCheck }),
  backend: 'nftables',
  batch: TRANSACTION,
  transactional: true,
  place: () => 'host',
  key: (resource) => chainKey(resource, resource.chain.name),
  describe: (resource) => describeChainOf(resource, resource.chain.name),
  diesWith: (resource) => tableKey(tableOf(resource)),
  touches: (resource) => [tableKey(tableOf(resource))],
  inPlace: true,
  compare(resource, found) {
    const words = describeChainOf(resource, resource.chain.name);
    if (found === undefined) return { missing: `${words} is not there` };
    return isChainAsDeclared(found, resource.chain) ? undefined : `${words} has other rules`;
  },
};
