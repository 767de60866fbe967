import { hasCode } from '@podwire/linux';
import type { NetlinkConnection } from '@podwire/netlink';
import {
  type Chain,
  decodeChain,
  decodeObject,
  decodeRule,
  decodeSet,
  decodeTable,
  type NamedObject,
  type RuleReference,
  type SetDeclaration,
  type Table,
} from './decode.js';
import { translating } from './errors.js';
import {
  type Family,
  NFT_MSG_DELTABLE,
  NFT_MSG_GETCHAIN,
  NFT_MSG_GETOBJ,
  NFT_MSG_GETRULE,
  NFT_MSG_GETSET,
  NFT_MSG_GETTABLE,
} from './protocol.js';
import { requestExisting } from './lookup.js';
import { inTransaction, plainRequest } from './request.js';

/** Parts of a table, by name and handle. Sets that belong to single rules are left out. */
export interface Structure {
  readonly table: Table;
  readonly chains: readonly Chain[];
  readonly rules: readonly RuleReference[];
  readonly sets: readonly SetDeclaration[];
  readonly objects: readonly NamedObject[];
}

export function listTables(connection: NetlinkConnection, family?: Family): Table[] {
  return translating('list tables', () => connection.dump(plainRequest(NFT_MSG_GETTABLE, family))).map(
    decodeTable,
  );
}

/** Deletes a table with everything in it. Looks first, because a refused transaction costs the kernel a grace period. */
export function deleteTable(connection: NetlinkConnection, family: Family, name: string): void {
  const [found] = requestExisting(connection, [plainRequest(NFT_MSG_GETTABLE, family, name)]);
  if (found === undefined) return;
  try {
    connection.request(inTransaction([plainRequest(NFT_MSG_DELTABLE, family, name)]));
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error; // it went by itself
  }
}

/** `undefined` when there is no such table. Elements are not read. */
export function readStructure(
  connection: NetlinkConnection,
  family: Family,
  name: string,
): Structure | undefined {
  const table = listTables(connection, family).find((candidate) => candidate.name === name);
  if (table === undefined) return undefined;
  const dump = (type: number) =>
    translating(`list table ${family} ${name}`, () => connection.dump(plainRequest(type, family, name)));
  return {
    table,
    // The kernel filters the others by table, chains it does not.
    chains: dump(NFT_MSG_GETCHAIN)
      .map(decodeChain)
      .filter((chain) => chain.table === name),
    rules: dump(NFT_MSG_GETRULE).map(decodeRule),
    sets: dump(NFT_MSG_GETSET)
      .map(decodeSet)
      .filter((set) => !set.anonymous),
    objects: dump(NFT_MSG_GETOBJ).map(decodeObject),
  };
}
