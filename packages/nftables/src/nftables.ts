import type { NamespaceReference } from '@podwire/linux';
import { hasCode } from '@podwire/linux';
import { NETLINK_NETFILTER, type NetlinkConnection, openNetlinkConnection } from '@podwire/netlink';
import { type AppliedTable, applyTable } from './apply-table.js';
import { supportsDestroy } from './changes.js';
import { decodeGeneration } from './decode.js';
import type { Element, ElementChange, ElementReference, SetReference } from './element.js';
import { translating } from './errors.js';
import { type ForwardPolicy, readForwardPolicy } from './forward-policy.js';
import { getElement, listElements, presentElements } from './lookup.js';
import { isOwnRun, loadRuleset, runNft } from './program.js';
import { type Family, NFT_MSG_GETGEN } from './protocol.js';
import { plainRequest } from './request.js';
import {
  type ChainState,
  getChain,
  getSet,
  listChains,
  listSets,
  readCounters,
  type RuleCount,
} from './rules/chains.js';
import { type Command, isElementChange } from './rules/commands.js';
import type { ChainReference } from './rules/requests.js';
import type { SetDeclaration } from './rules/statement.js';
import { transact } from './rules/transact.js';
import { readDigest, type TableDeclaration } from './seal.js';
import { deleteTable, listTables } from './structure.js';

/** A table by family and name. */
export interface TableReference {
  readonly family: Family;
  readonly name: string;
}

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** Of a call that starts nft. */
export interface CallOptions {
  /** Ends nft when it is aborted, and the call with its reason. Without a signal the call ends after 30 seconds. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * nftables of one network namespace. What is synchronous speaks netlink and takes some ten microseconds; what returns
 * a promise starts the nft program.
 */
export interface Nftables {
  /**
   * Changes elements in one transaction: all or nothing. Its cost does not depend on how many elements there are, but a
   * refused transaction makes the kernel wait for all its processors, some ten milliseconds.
   * @throws NftablesError naming what was refused: `EEXIST`, `ENOENT`, `EINVAL` (does not fit the
   *   declaration), `ENFILE` (the set is full), …
   * @throws RangeError for a value that does not fit its type; nothing was sent then.
   */
  change(changes: readonly ElementChange[]): void;
  /**
   * Changes tables, sets, chains with their rules, and elements in one transaction: all or nothing. The order of the commands
   * does not matter but among elements. The kernel looks at all rules of a table anew when a jump is added to it.
   * @throws NftablesError naming the commands that were refused: `EBUSY` for what others still refer to, `EEXIST` for a set
   *   with another declaration, …
   * @throws RangeError for what cannot be written; nothing was sent then.
   */
  transact(commands: readonly Command[]): void;
  /** All chains of a table with the digests of their rules; none when there is no such table. */
  listChains(family: Family, table: string): ChainState[];
  /** One chain; `undefined` when there is none. */
  getChain(reference: ChainReference): ChainState | undefined;
  /** The declarations of the sets and maps of a table. Of one with types that are not known here the key is empty. */
  listSets(family: Family, table: string): SetDeclaration[];
  getSet(reference: SetReference): SetDeclaration | undefined;
  /** Packets and bytes of all rules of a table that count them, in order. */
  readCounters(family: Family, table: string): RuleCount[];
  /** One element by its key; `undefined` when key, set or table are not there. Other elements are read for intervals only. */
  getElement(reference: ElementReference): Element | undefined;
  /** Which of the elements are there, with the value or verdict they name; without one the key counts alone. */
  hasElements(elements: readonly (SetReference & Element)[]): boolean[];
  /** All elements of a set or map. @throws NftablesError `ENOENT`; `EOPNOTSUPP` for types that are not known here */
  listElements(family: Family, table: string, set: string): Element[];
  listTables(): TableReference[];
  /** Goes up with every transaction in the namespace, by any program. */
  generation(): number;
  /**
   * The digest (`digestTable`) of the declaration that the table stands for; `undefined` when there is no such table,
   * it was not made by {@link applyTable}, or something other than elements was changed since.
   */
  tableDigest(family: Family, name: string): string | undefined;
  /**
   * Makes a table what its declaration says, in one transaction. Contents of its sets and maps stay.
   * @throws NftablesError; the table is as it was then.
   */
  applyTable(table: TableDeclaration, options?: CallOptions): Promise<AppliedTable>;
  /** Policy of iptables' FORWARD, and its rules that lead to a chain; `undefined` where iptables-nft is not used. */
  forwardPolicy(family: 'ip' | 'ip6', chain: string): ForwardPolicy | undefined;
  /** Deletes a table with everything in it; none is fine. */
  deleteTable(family: Family, name: string): void;
  /** Loads a script (nft(8)) in one transaction. @throws NftablesError with the failing line */
  loadRuleset(script: string, options?: CallOptions): Promise<void>;
  /** A table as `nft -j list table` shows it (libnftables-json(5)): the list of its objects. */
  listRuleset(family: Family, table: string, options?: CallOptions): Promise<readonly Json[]>;
  /** Reports if an event with this port id comes from a change by this program itself. */
  isOwnPort(port: number): boolean;
  close(): void;
}

export interface NftablesOptions {
  /** The network namespace to work in; the caller's own when absent. It must stay open as long as the connection. */
  readonly namespace?: NamespaceReference | undefined;
  /** Absolute path of the program nft; looked for when absent, and only when it is needed. */
  readonly nftPath?: string | undefined;
  /** Milliseconds for one run of nft: `ETIMEDOUT` after that. When absent, 30,000 for calls without a signal. */
  readonly timeout?: number | undefined;
}

/** Opens nftables of a network namespace. @throws SystemError */
export function openNftables(options: NftablesOptions = {}): Nftables {
  const connection = openNetlinkConnection({ protocol: NETLINK_NETFILTER, namespace: options.namespace });
  return createNftables(connection, options);
}

/** As {@link openNftables}, over a connection that the caller has made; it is closed with the result. */
export function createNftables(connection: NetlinkConnection, options: NftablesOptions = {}): Nftables {
  return new KernelNftables(connection, options);
}

class KernelNftables implements Nftables {
  readonly #connection: NetlinkConnection;
  readonly #options: NftablesOptions;
  #destroySupported: boolean | undefined;
  /** Changes made while a table is applied. */
  #journal: ElementChange[] | undefined;
  #lastApply: Promise<unknown> = Promise.resolve();

  constructor(connection: NetlinkConnection, options: NftablesOptions) {
    this.#connection = connection;
    this.#options = options;
  }

  change(changes: readonly ElementChange[]): void {
    this.transact(changes);
  }

  transact(commands: readonly Command[]): void {
    this.#carryOut(commands);
    for (const command of commands) if (isElementChange(command)) this.#journal?.push(command);
  }

  /** Takes the kernel for a new one until it refuses; asking first would cost as much as a refusal. */
  #carryOut(commands: readonly Command[]): void {
    try {
      transact(this.#connection, commands, this.#destroySupported ?? true);
    } catch (error) {
      if (!this.#isTooOld(error)) throw error;
      transact(this.#connection, commands, false);
    }
  }

  #isTooOld(error: unknown): boolean {
    if (this.#destroySupported !== undefined || !hasCode(error, 'EINVAL')) return false;
    this.#destroySupported = translating('nftables', () => supportsDestroy(this.#connection));
    return !this.#destroySupported;
  }

  listChains(family: Family, table: string): ChainState[] {
    return listChains(this.#connection, family, table);
  }

  getChain(reference: ChainReference): ChainState | undefined {
    return translating('get chain', () => getChain(this.#connection, reference));
  }

  listSets(family: Family, table: string): SetDeclaration[] {
    return listSets(this.#connection, family, table);
  }

  getSet(reference: SetReference): SetDeclaration | undefined {
    return translating('get set', () => getSet(this.#connection, reference));
  }

  readCounters(family: Family, table: string): RuleCount[] {
    return readCounters(this.#connection, family, table);
  }

  getElement(reference: ElementReference): Element | undefined {
    return translating('get element', () => getElement(this.#connection, reference));
  }

  hasElements(elements: readonly (SetReference & Element)[]): boolean[] {
    return translating('get elements', () => presentElements(this.#connection, elements));
  }

  listElements(family: Family, table: string, set: string): Element[] {
    return listElements(this.#connection, { family, table, set });
  }

  listTables(): TableReference[] {
    return listTables(this.#connection).map(({ family, name }) => ({ family, name }));
  }

  generation(): number {
    const request = plainRequest(NFT_MSG_GETGEN, undefined);
    const replies = translating('get the generation', () => this.#connection.request([request]));
    return decodeGeneration(replies[0]![0]!);
  }

  tableDigest(family: Family, name: string): string | undefined {
    return translating(`list table ${family} ${name}`, () => readDigest(this.#connection, family, name));
  }

  forwardPolicy(family: 'ip' | 'ip6', chain: string): ForwardPolicy | undefined {
    return readForwardPolicy(this.#connection, family, chain);
  }

  /** One after the other: each must see what the last one has made. */
  async applyTable(table: TableDeclaration, { signal }: CallOptions = {}): Promise<AppliedTable> {
    const turn = this.#lastApply.then(() => this.#applyNow(table, signal));
    this.#lastApply = turn.catch(() => undefined);
    return await turn;
  }

  async #applyNow(table: TableDeclaration, signal: AbortSignal | undefined): Promise<AppliedTable> {
    const journal = (this.#journal = []);
    try {
      const write = (elements: readonly ElementChange[]) => this.#carryOut(elements);
      const applied = await applyTable(this.#connection, table, { ...this.#options, signal }, write);
      this.#repeat(journal, table, applied.recreated);
      return applied;
    } finally {
      this.#journal = undefined;
    }
  }

  /** Does the changes of a set once more that came after its contents were read for its successor. */
  #repeat(
    journal: readonly ElementChange[],
    { family, name }: TableDeclaration,
    recreated: readonly string[],
  ): void {
    const again = journal
      .filter(({ set, table, family: of }) => of === family && table === name && recreated.includes(set))
      .map((change): ElementChange => ({ ...change, op: removes(change) ? 'destroy' : 'replace' }));
    this.#carryOut(again);
  }

  deleteTable(family: Family, name: string): void {
    translating(`delete table ${family} ${name}`, () => deleteTable(this.#connection, family, name));
  }

  async loadRuleset(script: string, { signal }: CallOptions = {}): Promise<void> {
    await loadRuleset(script, { ...this.#options, signal });
  }

  async listRuleset(family: Family, table: string, { signal }: CallOptions = {}): Promise<readonly Json[]> {
    const text = await runNft(['-j', 'list', 'table', family, table], '', { ...this.#options, signal });
    return (JSON.parse(text) as { readonly nftables: readonly Json[] }).nftables;
  }

  isOwnPort(port: number): boolean {
    return port === this.#connection.portId() || isOwnRun(port);
  }

  close(): void {
    this.#connection.close();
  }
}

function removes({ op }: ElementChange): boolean {
  return op === 'delete' || op === 'destroy';
}
