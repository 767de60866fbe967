/** Transactions on tables in memory: what the kernel would make of a list of commands, or its refusal. */
import { describeChange, describeSet, type ElementChange, type SetReference } from '../element.js';
import { refusal } from '../errors.js';
import { addRules, type Command, describeCommand, isElementChange } from '../rules/commands.js';
import { addSetRequest } from '../rules/requests.js';
import type { ChainDeclaration, Statement } from '../rules/statement.js';
import { encodeSteps, planSteps } from '../steps.js';
import { changeSet, createSet, draftSet, type FakeSet, type FakeTable, type SetDraft } from './table.js';

/** By family and name. */
export type FakeTables = ReadonlyMap<string, FakeTable>;

const ENOENT = 2;
const EBUSY = 16;
const EEXIST = 17;

/** In the kernel's order: what is referred to first, what refers to it last, removals behind everything. */
const ranks: Readonly<Record<Command['op'], number>> = {
  ...{ 'add-table': 0, 'add-set': 1, 'put-chain': 2 },
  ...{ add: 3, create: 3, replace: 3, delete: 3, destroy: 3 },
  ...{ 'delete-chain': 5, 'delete-set': 6, 'delete-table': 7 },
};

/** The tables afterwards. @throws NftablesError, RangeError */
export function carryOut(tables: FakeTables, commands: readonly Command[]): FakeTables {
  checkValues(commands);
  const indexed = commands.map((command, index) => ({ command, index }));
  const draft = new Draft(tables, new Set(commands.filter(({ op }) => op === 'delete-chain').map(nameOf)));
  for (const { command, index } of indexed.toSorted((a, b) => ranks[a.command.op] - ranks[b.command.op]))
    draft.add(command, index);
  return draft.finish();
}

const nameOf = (command: Command): string => ('name' in command ? command.name : '');

/** The same are refused as by the real one, before anything happens. */
function checkValues(commands: readonly Command[]): void {
  encodeSteps(planSteps(commands.filter(isElementChange)));
  for (const command of commands) {
    if (command.op === 'add-set') addSetRequest({ ...command, set: command.set.name }, command.set, 1);
    if (command.op === 'put-chain') addRules({ command, index: 0 });
  }
}

class Draft {
  readonly #tables: Map<string, FakeTable>;
  /** Their rules go before anything else does. */
  readonly #going: ReadonlySet<string>;
  readonly #put: { readonly place: string; readonly chain: ChainDeclaration; readonly index: number }[] = [];
  readonly #sets = new Map<string, { readonly draft: SetDraft; readonly reference: SetReference }>();

  constructor(tables: FakeTables, going: ReadonlySet<string>) {
    this.#tables = new Map(tables);
    this.#going = going;
  }

  add(command: Command, index: number): void {
    if (isElementChange(command)) return this.#change(command, index);
    if (ranks[command.op] > ranks.add) this.#settle();
    switch (command.op) {
      case 'add-table':
        return this.#addTable(command);
      case 'delete-table':
        this.#tables.delete(`${command.family} ${command.name}`);
        return;
      case 'add-set': {
        const there = this.#table(command, command, index).sets.get(command.set.name);
        if (there === undefined) return this.#putSet(command, createSet(command.set));
        const same = JSON.stringify(there.declared) === JSON.stringify(command.set);
        if (!same) throw refusal('EEXIST', EEXIST, describeCommand(command), index);
        return;
      }
      case 'put-chain':
        return this.#putChain(command, index);
      case 'delete-chain':
        return this.#deleteChain(command, index);
      case 'delete-set':
        return this.#deleteSet(command, index);
    }
  }

  finish(): FakeTables {
    this.#settle();
    return this.#tables;
  }

  #addTable({ family, name }: { readonly family: FakeTable['family']; readonly name: string }): void {
    const place = `${family} ${name}`;
    if (this.#tables.has(place)) return;
    const empty = { chains: [], rules: new Map(), sets: new Map(), digest: undefined };
    this.#tables.set(place, { family, name, ...empty });
  }

  #table(
    { family, table }: Pick<SetReference, 'family' | 'table'>,
    command: Command,
    index: number,
  ): FakeTable {
    const found = this.#tables.get(`${family} ${table}`);
    if (found === undefined) throw refusal('ENOENT', ENOENT, describeCommand(command), index);
    return found;
  }

  #putSet({ family, table }: Pick<SetReference, 'family' | 'table'>, set: FakeSet): void {
    const place = `${family} ${table}`;
    const before = this.#tables.get(place)!;
    const sets = new Map(before.sets).set(set.declaration.name, set);
    this.#tables.set(place, { ...before, sets });
  }

  #putChain(command: Extract<Command, { op: 'put-chain' }>, index: number): void {
    const { family, table: name, chain } = command;
    const table = this.#table(command, command, index);
    const chains = [...new Set([...table.chains, chain.name])];
    const rules = new Map(table.rules).set(chain.name, chain);
    this.#tables.set(`${family} ${name}`, { ...table, chains, rules });
    this.#put.push({ place: `${family} ${name}`, chain, index });
  }

  #change(change: ElementChange, index: number): void {
    const place = describeSet(change);
    const set = this.#sets.get(place)?.draft.set ?? this.#setFor(change, index);
    if (set === undefined) return;
    const { draft } = this.#sets.get(place) ?? { draft: draftSet(set) };
    this.#sets.set(place, { draft, reference: change });
    this.#requireChain(change, index);
    changeSet(draft, change, index);
  }

  /** The set of a change; `undefined` when there is none and that is fine. */
  #setFor(change: ElementChange, index: number): FakeSet | undefined {
    const set = this.#tables.get(`${change.family} ${change.table}`)?.sets.get(change.set);
    if (set === undefined && change.op !== 'destroy')
      throw refusal('ENOENT', ENOENT, describeChange(change), index);
    return set;
  }

  #requireChain({ op, family, table, verdict, ...rest }: ElementChange, index: number): void {
    if (verdict === undefined || !('chain' in verdict) || op === 'destroy' || op === 'delete') return;
    if (this.#tables.get(`${family} ${table}`)?.chains.includes(verdict.chain) === true) return;
    throw refusal('ENOENT', ENOENT, describeChange({ op, family, table, verdict, ...rest }), index);
  }

  /** Elements are in their sets, and rules must find what they refer to. */
  #settle(): void {
    for (const { draft, reference } of this.#sets.values())
      this.#putSet(reference, { ...draft.set, elements: draft.elements });
    this.#sets.clear();
    for (const { place, chain, index } of this.#put.splice(0)) {
      const { chains, sets } = this.#tables.get(place)!;
      const statements = chain.rules.flatMap((rule) => rule.statements);
      const absent = statements.some(
        (one) =>
          chainsOf(one).some((name) => !chains.includes(name)) || setsOf(one).some((name) => !sets.has(name)),
      );
      if (absent) throw refusal('ENOENT', ENOENT, `put chain ${place} ${chain.name}`, index);
    }
  }

  #deleteChain(command: Extract<Command, { op: 'delete-chain' }>, index: number): void {
    const { family, table: of, name } = command;
    const table = this.#tables.get(`${family} ${of}`);
    if (table?.chains.includes(name) !== true) return;
    const verdicts = [...table.sets.values()].flatMap(({ elements }) => [...elements.values()]);
    const isTarget =
      this.#statementsOf(table).some((one) => chainsOf(one).includes(name)) ||
      verdicts.some(({ verdict }) => verdict && 'chain' in verdict && verdict.chain === name);
    if (isTarget) throw refusal('EBUSY', EBUSY, describeCommand(command), index);
    const rules = new Map(table.rules);
    rules.delete(name);
    const chains = table.chains.filter((chain) => chain !== name);
    this.#tables.set(`${family} ${of}`, { ...table, chains, rules });
  }

  #deleteSet(command: Extract<Command, { op: 'delete-set' }>, index: number): void {
    const { family, table: of, name } = command;
    const table = this.#tables.get(`${family} ${of}`);
    if (table?.sets.has(name) !== true) return;
    if (this.#statementsOf(table).some((one) => setsOf(one).includes(name)))
      throw refusal('EBUSY', EBUSY, describeCommand(command), index);
    const sets = new Map(table.sets);
    sets.delete(name);
    this.#tables.set(`${family} ${of}`, { ...table, sets });
  }

  #statementsOf({ rules }: FakeTable): Statement[] {
    const staying = [...rules.values()].filter(({ name }) => !this.#going.has(name));
    return staying.flatMap((chain) => chain.rules.flatMap(({ statements }) => statements));
  }
}

function chainsOf(statement: Statement): string[] {
  return statement.is === 'jump' || statement.is === 'goto' ? [statement.chain] : [];
}

function setsOf(statement: Statement): string[] {
  switch (statement.is) {
    case 'lookup':
      return [statement.set];
    case 'vmap':
      return [statement.map];
    default:
      return [];
  }
}
