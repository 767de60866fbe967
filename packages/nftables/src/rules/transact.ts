import type { NetlinkConnection, NetlinkRequest } from '@podwire/netlink';
import { applyChanges } from '../changes.js';
import { type ElementChange } from '../element.js';
import { requestExisting } from '../lookup.js';
import { NFT_MSG_GETTABLE } from '../protocol.js';
import { plainRequest } from '../request.js';
import {
  type Command,
  type CommandMessages,
  type Indexed,
  isElementChange,
  orderMessages,
  type PutChain,
  type StructureCommand,
} from './commands.js';
import { decodeBase, sameBase } from './chains.js';
import { getChainRequest, getSetRequest } from './requests.js';

/**
 * Carries out commands in one transaction: all or nothing.
 * @throws NftablesError whose failures name commands by their index
 */
export function transact(
  connection: NetlinkConnection,
  commands: readonly Command[],
  destroySupported: boolean,
): void {
  const indexed = commands.map((command, index) => ({ command, index }));
  const elements = indexed.filter((one): one is Indexed<ElementChange> => isElementChange(one.command));
  const structure = indexed.filter((one): one is Indexed<StructureCommand> => !isElementChange(one.command));
  applyChanges(
    connection,
    elements.map(({ command }) => command),
    { destroySupported, frame: () => frameOf(connection, structure), indexOf: (n) => elements[n]!.index },
  );
}

/** Deletions of absent things are left out; base chains that get another hook are made anew. */
function frameOf(
  connection: NetlinkConnection,
  commands: readonly Indexed<StructureCommand>[],
): CommandMessages {
  const lookups = commands.map(({ command }) => lookupOf(command));
  const asked = commands.filter((_, n) => lookups[n] !== undefined);
  const requests = lookups.filter((request) => request !== undefined);
  const answers = requests.length === 0 ? [] : requestExisting(connection, requests);
  const found = new Map(asked.map((one, n) => [one, answers[n]?.[0]]));
  const remade = new Set<PutChain>();
  const present = commands.filter((one) => {
    const { command } = one;
    if (!found.has(one)) return true;
    const there = found.get(one);
    if (command.op !== 'put-chain') return there !== undefined;
    if (there !== undefined && !sameBase(decodeBase(there), command.chain.base)) remade.add(command);
    return true;
  });
  return orderMessages(present, remade);
}

/** Chains that are only jumped to may be thousands, and are what they are: they are not looked up. */
function lookupOf(command: StructureCommand): NetlinkRequest | undefined {
  switch (command.op) {
    case 'delete-table':
      return plainRequest(NFT_MSG_GETTABLE, command.family, command.name);
    case 'delete-set':
      return getSetRequest({ family: command.family, table: command.table, set: command.name });
    case 'delete-chain':
      return getChainRequest({ family: command.family, table: command.table, chain: command.name });
    case 'put-chain':
      if (command.chain.base === undefined) return undefined;
      return getChainRequest({ family: command.family, table: command.table, chain: command.chain.name });
    default:
      return undefined;
  }
}
