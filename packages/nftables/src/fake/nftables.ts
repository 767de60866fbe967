import type { AppliedTable } from '../apply-table.js';
import { checkName } from '../declarations.js';
import {
  describeChange,
  describeSet,
  type Element,
  type ElementChange,
  type ElementReference,
  type SetReference,
} from '../element.js';
import { refusal } from '../errors.js';
import type { CallOptions, Json, Nftables, TableReference } from '../nftables.js';
import type { Family } from '../protocol.js';
import { digestTable, type TableDeclaration } from '../seal.js';
import { encodeSteps, planSteps } from '../steps.js';
import { formatValues } from '../values.js';
import { type Fault, Faults } from './faults.js';
import { loadScript } from './script.js';
import {
  changeSet,
  declareTable,
  draftSet,
  type FakeSet,
  type FakeTable,
  keyOf,
  sameData,
  type SetDraft,
} from './table.js';

const ENOENT = 2;

/** nftables of a namespace that is not there: the same interface and errors, in memory. */
export class FakeNftables implements Nftables {
  readonly #faults = new Faults();
  /** By family and name. */
  #tables: ReadonlyMap<string, FakeTable> = new Map();
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
    if (changes.length === 0) return;
    encodeSteps(planSteps(changes)); // refuses the same values as the real one
    const label = changes.map(describeChange).join('; ');
    this.#call('change', label, () => this.#commit(this.#changed(changes)));
  }

  #changed(changes: readonly ElementChange[]): ReadonlyMap<string, FakeTable> {
    const drafts = new Map<string, { readonly draft: SetDraft; readonly reference: SetReference }>();
    for (const [index, change] of changes.entries()) {
      const set = this.#setFor(change, index);
      if (set === undefined) continue;
      const place = describeSet(change);
      const { draft } = drafts.get(place) ?? { draft: draftSet(set) };
      drafts.set(place, { draft, reference: change });
      changeSet(draft, change, index);
    }
    const tables = new Map(this.#tables);
    for (const { draft, reference } of drafts.values()) {
      putSet(tables, reference, { ...draft.set, elements: draft.elements });
    }
    return tables;
  }

  /** The set of a change; `undefined` when there is none and that is fine. */
  #setFor(change: ElementChange, index: number): FakeSet | undefined {
    const { family, table, verdict } = change;
    const set = this.#set(change);
    const chains = this.#tables.get(`${family} ${table}`)?.chains ?? [];
    const chainMissing = verdict !== undefined && 'chain' in verdict && !chains.includes(verdict.chain);
    if (set !== undefined && !chainMissing) return set;
    if (change.op === 'destroy') return undefined;
    throw refusal('ENOENT', ENOENT, describeChange(change), index);
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

  #commit(tables: ReadonlyMap<string, FakeTable>): void {
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

function putSet(
  tables: Map<string, FakeTable>,
  { family, table, set }: SetReference,
  changed: FakeSet,
): void {
  const place = `${family} ${table}`;
  const before = tables.get(place)!;
  tables.set(place, { ...before, sets: new Map(before.sets).set(set, changed) });
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
