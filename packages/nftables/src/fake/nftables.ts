import { compact } from '@podwire/platform';
import type { AppliedTable } from '../apply-table.js';
import { checkName } from '../declarations.js';
import {
  describeSet,
  type Element,
  type ElementChange,
  type ElementReference,
  type SetReference,
} from '../element.js';
import { refusal } from '../errors.js';
import type { CallOptions, Json, Nftables, TableReference } from '../nftables.js';
import type { Family } from '../protocol.js';
import type { ChainState, RuleCount } from '../rules/chains.js';
import { type Command, describeCommand } from '../rules/commands.js';
import { digestRule } from '../rules/digest.js';
import type { ChainReference } from '../rules/requests.js';
import type { ChainDeclaration, SetDeclaration } from '../rules/statement.js';
import { digestTable, type TableDeclaration } from '../seal.js';
import { formatValues } from '../values.js';
import { type Fault, Faults } from './faults.js';
import { loadScript } from './script.js';
import { declareTable, type FakeSet, type FakeTable, keyOf, sameData } from './table.js';
import { carryOut, type FakeTables } from './transaction.js';

const ENOENT = 2;

/** nftables of a namespace that is not there: the same interface and errors, in memory. */
export class FakeNftables implements Nftables {
  readonly #faults = new Faults();
  /** By family and name. */
  #tables: FakeTables = new Map();
  #generation = 1;
  #closed = false;

  /** Makes a coming call fail. */
  inject(fault: Fault): void {
    this.#faults.inject(fault);
  }

  /** Does what another program would do to a table: its digest is unknown then. */
  tamper(family: Family, name: string): void {
    const table = this.#tables.get(`${family} ${name}`);
    if (table === undefined) throw refusal('ENOENT', ENOENT, `tamper with table ${family} ${name}`);
    this.#commit(new Map(this.#tables).set(`${family} ${name}`, { ...table, digest: undefined }));
  }

  change(changes: readonly ElementChange[]): void {
    this.#transact('change', changes);
  }

  transact(commands: readonly Command[]): void {
    this.#transact('transact', commands);
  }

  #transact(method: string, commands: readonly Command[]): void {
    if (commands.length === 0) return;
    const label = commands.map(describeCommand).join('; ');
    this.#call(method, label, () => this.#commit(carryOut(this.#tables, commands)));
  }

  listChains(family: Family, table: string): ChainState[] {
    return this.#call('listChains', `list table ${family} ${table}`, () => {
      const found = this.#tables.get(`${family} ${table}`);
      return (found?.chains ?? []).map((name) => stateOf(name, found?.rules.get(name)));
    });
  }

  getChain({ family, table, chain }: ChainReference): ChainState | undefined {
    return this.#call('getChain', `list chain ${family} ${table} ${chain}`, () => {
      const found = this.#tables.get(`${family} ${table}`);
      return found?.chains.includes(chain) === true ? stateOf(chain, found.rules.get(chain)) : undefined;
    });
  }

  listSets(family: Family, table: string): SetDeclaration[] {
    return this.#call('listSets', `list table ${family} ${table}`, () =>
      [...(this.#tables.get(`${family} ${table}`)?.sets.values() ?? [])].map(declarationOf),
    );
  }

  getSet(reference: SetReference): SetDeclaration | undefined {
    return this.#call('getSet', `get set ${describeSet(reference)}`, () => {
      const found = this.#set(reference);
      return found && declarationOf(found);
    });
  }

  /** No packet comes by. */
  readCounters(family: Family, table: string): RuleCount[] {
    return this.#call('readCounters', `list table ${family} ${table}`, () =>
      [...(this.#tables.get(`${family} ${table}`)?.rules.values() ?? [])].flatMap(countersOf),
    );
  }

  getElement(reference: ElementReference): Element | undefined {
    return this.#call('getElement', `get element ${describeSet(reference)}`, () => this.#find(reference));
  }

  #find(reference: ElementReference): Element | undefined {
    return this.#set(reference)?.elements.get(keyOf(reference));
  }

  #set({ family, table, set }: SetReference): FakeSet | undefined {
    return this.#tables.get(`${family} ${table}`)?.sets.get(set);
  }

  hasElements(elements: readonly (SetReference & Element)[]): boolean[] {
    return this.#call('hasElements', 'get elements', () =>
      elements.map((element) => {
        const found = this.#find(element);
        const byKey = element.value === undefined && element.verdict === undefined;
        return found !== undefined && (byKey || sameData(found, element));
      }),
    );
  }

  listElements(family: Family, table: string, set: string): Element[] {
    const label = `list set ${family} ${table} ${set}`;
    return this.#call('listElements', label, () => {
      const found = this.#set({ family, table, set });
      if (found === undefined) throw refusal('ENOENT', ENOENT, label);
      return [...found.elements.values()];
    });
  }

  listTables(): TableReference[] {
    return this.#call('listTables', 'list tables', () =>
      [...this.#tables.values()].map(({ family, name }) => ({ family, name })),
    );
  }

  generation(): number {
    return this.#call('generation', 'get the generation', () => this.#generation);
  }

  /** Without iptables. */
  forwardPolicy(): undefined {
    return undefined;
  }

  tableDigest(family: Family, name: string): string | undefined {
    return this.#call(
      'tableDigest',
      `list table ${family} ${name}`,
      () => this.#tables.get(`${family} ${name}`)?.digest,
    );
  }

  async applyTable(declaration: TableDeclaration, { signal }: CallOptions = {}): Promise<AppliedTable> {
    const { family, name } = declaration;
    return await this.#eventually('applyTable', `apply table ${family} ${name}`, signal, () => {
      const place = `${family} ${checkName(name)}`;
      const before = this.#tables.get(place);
      if (before?.digest === digestTable(declaration)) return { changed: false, recreated: [], emptied: [] };
      const { table, applied } = declareTable(declaration, before);
      this.#commit(new Map(this.#tables).set(place, table));
      return applied;
    });
  }

  deleteTable(family: Family, name: string): void {
    this.#call('deleteTable', `delete table ${family} ${name}`, () => {
      const tables = new Map(this.#tables);
      if (tables.delete(`${family} ${name}`)) this.#commit(tables);
    });
  }

  /** Understands `table FAMILY NAME { … }`, `delete table FAMILY NAME` and `flush ruleset`, and nothing else. */
  async loadRuleset(script: string, { signal }: CallOptions = {}): Promise<void> {
    await this.#eventually('loadRuleset', 'nft -f -', signal, () =>
      this.#commit(loadScript(this.#tables, script)),
    );
  }

  /** Tables, chains and sets with their elements as text; rules are not kept. */
  async listRuleset(family: Family, table: string, { signal }: CallOptions = {}): Promise<readonly Json[]> {
    const label = `nft -j list table ${family} ${table}`;
    return await this.#eventually('listRuleset', label, signal, () => {
      const found = this.#tables.get(`${family} ${table}`);
      if (found === undefined) throw refusal('ENOENT', ENOENT, label);
      return describeTable(found);
    });
  }

  /** Nothing else changes it. */
  isOwnPort(): boolean {
    return true;
  }

  close(): void {
    this.#closed = true;
  }

  #commit(tables: FakeTables): void {
    this.#tables = tables;
    this.#generation++;
  }

  #call<T>(method: string, label: string, work: () => T): T {
    if (this.#closed) throw refusal('EBADF', 9, `${label}: the connection is closed`);
    return this.#faults.around(method, label, work);
  }

  async #eventually<T>(
    method: string,
    label: string,
    signal: AbortSignal | undefined,
    work: () => T,
  ): Promise<T> {
    signal?.throwIfAborted();
    await Promise.resolve();
    return this.#call(method, label, work);
  }
}

function stateOf(name: string, declared: ChainDeclaration | undefined): ChainState {
  const { base, rules = [] } = declared ?? {};
  const policy = base && { ...base, policy: base.policy ?? 'accept' };
  return { name, rules: rules.map(digestRule), ...compact({ base: policy }) };
}

/** As the kernel gives it back: without its comment. */
function declarationOf({ declaration, declared }: FakeSet): SetDeclaration {
  const { comment: _, ...known } = declared ?? { name: declaration.name, key: [] };
  return known;
}

function countersOf({ name, rules }: ChainDeclaration): RuleCount[] {
  return rules.flatMap(({ statements, comment }, index) => {
    const counts = statements.some(({ is }) => is === 'counter');
    return counts ? [{ chain: name, index, packets: 0n, bytes: 0n, ...compact({ comment }) }] : [];
  });
}

function describeTable({ family, name, chains, sets }: FakeTable): Json[] {
  return [
    { table: { family, name } },
    ...chains.map((chain) => ({ chain: { family, table: name, name: chain } })),
    ...[...sets].map(([set, { declaration, elements }]) => ({
      [declaration.kind]: {
        family,
        table: name,
        name: set,
        elem: [...elements.values()].map(({ key }) => formatValues(key)),
      },
    })),
  ];
}

/** An empty fake. */
export function createFakeNftables(): FakeNftables {
  return new FakeNftables();
}
