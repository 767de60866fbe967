/** The commands of a transaction, and the order in which the kernel gets them. */
import type { NetlinkRequest } from '@podwire/netlink';
import { describeChange, type ElementChange } from '../element.js';
import { NFT_MSG_DELTABLE, type Family } from '../protocol.js';
import { plainRequest } from '../request.js';
import { describeRule } from './describe.js';
import {
  addChainRequest,
  addRuleRequest,
  addSetRequest,
  addTableRequest,
  deleteChainRequest,
  deleteSetRequest,
  flushChainRequest,
} from './requests.js';
import type { ChainDeclaration, SetDeclaration } from './statement.js';

interface InTable {
  readonly family: Family;
  readonly table: string;
}

interface OfTable<O extends string> {
  readonly op: O;
  readonly family: Family;
  readonly name: string;
}
export type TableCommand = OfTable<'add-table'> | OfTable<'delete-table'>;
/** A set that is there with the same declaration stays as it is; with another one it is `EEXIST`. */
export type AddSet = InTable & { readonly op: 'add-set'; readonly set: SetDeclaration };
/** The chain has these rules afterwards and no others. At no moment has it some of them. */
export type PutChain = InTable & { readonly op: 'put-chain'; readonly chain: ChainDeclaration };
interface Named<O extends string> extends InTable {
  readonly op: O;
  readonly name: string;
}
/** None is fine. One that something still refers to is `EBUSY`. */
export type DeleteNamed = Named<'delete-set'> | Named<'delete-chain'>;
export type StructureCommand = TableCommand | AddSet | PutChain | DeleteNamed;
/** They may stand in any order: what others refer to is made first and goes last. */
export type Command = StructureCommand | ElementChange;

/** A message of a transaction, with what to say of it. */
export interface CommandMessage {
  readonly request: NetlinkRequest;
  readonly label: () => string;
  readonly index: number;
  /** `ENOENT`: it went by itself in the meantime. */
  readonly removes?: true;
}

/** Around the changes of elements. */
export interface CommandMessages {
  readonly before: readonly CommandMessage[];
  readonly after: readonly CommandMessage[];
}

export type Indexed<T> = { readonly command: T; readonly index: number };

export function isElementChange(command: Command): command is ElementChange {
  return 'key' in command;
}

export function describeCommand(command: Command): string {
  if (isElementChange(command)) return describeChange(command);
  const [verb, sort] = command.op.split('-');
  if (command.op === 'add-table' || command.op === 'delete-table')
    return `${verb} table ${command.family} ${command.name}`;
  const name = 'chain' in command ? command.chain.name : 'set' in command ? command.set.name : command.name;
  return `${verb} ${sort} ${command.family} ${command.table} ${name}`;
}

/**
 * Chains are all made before a rule or a verdict can lead to them, and lose their rules before anything that these refer to
 * is deleted.
 * @param remade base chains whose hook is another one now
 */
export function orderMessages(
  commands: readonly Indexed<StructureCommand>[],
  remade: ReadonlySet<PutChain>,
): CommandMessages {
  const of = <K extends StructureCommand['op']>(op: K) =>
    commands.filter((one): one is Indexed<Extract<StructureCommand, { op: K }>> => one.command.op === op);
  const put = of('put-chain');
  const deletedChains = of('delete-chain');
  return {
    before: [
      ...of('add-table').map((one) => messageOf(one, addTableRequest(one.command.family, one.command.name))),
      ...of('add-set').map((one) => messageOf(one, addSet(one))),
      ...put.flatMap((one) => makeChain(one, remade.has(one.command))),
      ...deletedChains.map((one) => removal(one, flushChainRequest(chainOf(one.command)))),
    ],
    after: [
      ...put.flatMap(addRules),
      ...deletedChains.map((one) => removal(one, deleteChainRequest(chainOf(one.command)))),
      ...of('delete-set').map((one) => removal(one, deleteSetRequest(setOf(one.command)))),
      ...of('delete-table').map((one) =>
        removal(one, plainRequest(NFT_MSG_DELTABLE, one.command.family, one.command.name)),
      ),
    ],
  };
}

const chainOf = ({ family, table, name }: DeleteNamed) => ({ family, table, chain: name });
const setOf = ({ family, table, name }: DeleteNamed) => ({ family, table, set: name });

function messageOf({ command, index }: Indexed<StructureCommand>, request: NetlinkRequest): CommandMessage {
  return { request, label: () => describeCommand(command), index };
}

const removal = (one: Indexed<StructureCommand>, request: NetlinkRequest): CommandMessage => ({
  ...messageOf(one, request),
  removes: true,
});

const addSet = ({ command: { family, table, set }, index }: Indexed<AddSet>): NetlinkRequest =>
  addSetRequest({ family, table, set: set.name }, set, index + 1);

function makeChain(one: Indexed<PutChain>, isRemade: boolean): CommandMessage[] {
  const { family, table, chain } = one.command;
  const reference = { family, table, chain: chain.name };
  const [add, flush] = [addChainRequest(reference, chain), flushChainRequest(reference)];
  if (!isRemade) return [messageOf(one, add), messageOf(one, flush)];
  return [removal(one, flush), removal(one, deleteChainRequest(reference)), messageOf(one, add)];
}

/** @throws RangeError naming the rule that cannot be written */
export function addRules(one: Indexed<PutChain>): CommandMessage[] {
  const { family, table, chain } = one.command;
  const reference = { family, table, chain: chain.name };
  return chain.rules.map((rule) => {
    const label = (): string => `add rule ${family} ${table} ${chain.name} ${describeRule(rule)}`;
    try {
      return { request: addRuleRequest(reference, rule), label, index: one.index };
    } catch (error) {
      if (error instanceof RangeError) throw new RangeError(`${label()}: ${error.message}`, { cause: error });
      throw error;
    }
  });
}
