import {
  type Batch,
  carryOutAsFarAsPossible,
  type Exchange,
  type Failure,
  type MarkedThing,
  type Observed,
  type Repair,
  type Resource,
  type Session,
  type SessionOptions,
  type Snapshot,
} from '@podwire/engine';
import { carryOut, type StepFailure } from './carry-out.js';
import { keyFor } from './description.js';
import { findRows } from './found.js';
import type { RowKind } from './kind.js';
import type { DatabaseLink } from './link.js';
import type { Step } from './plan.js';
import { nameOf, type View } from './view.js';

export type RowKinds = ReadonlyMap<string, RowKind>;

/** A row with our mark. */
interface MarkedRow extends MarkedThing {
  readonly table: string;
  readonly name: string;
}

export class RowSession implements Session {
  readonly #link: DatabaseLink;
  readonly #kinds: RowKinds;

  constructor(link: DatabaseLink, kinds: RowKinds) {
    this.#link = link;
    this.#kinds = kinds;
  }

  async reaches(): Promise<boolean> {
    return Promise.resolve(true);
  }

  async create({ resources }: Batch, { signal }: SessionOptions): Promise<Failure[]> {
    return toFailures(await carryOut(this.#link, this.#steps('add', resources), signal));
  }

  async repair(_batch: Batch, repairs: readonly Repair[], { signal }: SessionOptions): Promise<Failure[]> {
    const resources = repairs.map(({ resource }) => resource);
    // A missing row may have come meanwhile.
    const steps = this.#steps('replace', resources);
    return toFailures(await this.#carryOutAsFarAsPossible(steps, signal));
  }

  async remove({ resources }: Batch, { signal }: SessionOptions): Promise<Failure[]> {
    return toFailures(await this.#carryOutAsFarAsPossible(this.#steps('remove', resources), signal));
  }

  async exchange({ add, replace, remove }: Exchange, { signal }: SessionOptions): Promise<Failure[]> {
    const steps = [
      ...this.#steps('remove', remove),
      ...this.#steps('replace', replace),
      ...this.#steps('add', add),
    ];
    return toFailures(await carryOut(this.#link, steps, signal));
  }

  async observe(
    resources: readonly Resource[],
    _snapshot: Snapshot | undefined,
    { signal }: SessionOptions,
  ): Promise<Observed> {
    const view = await this.#link.look(signal);
    return new Map(resources.map((one) => [one, { found: findRows(view, this.#rowsOf(one)) }]));
  }

  async listMarked(
    _wanted: readonly Resource[],
    _snapshot: Snapshot | undefined,
    { signal }: SessionOptions,
  ): Promise<MarkedRow[]> {
    const view = await this.#link.look(signal);
    const { tables } = this.#link.description;
    return Object.keys(tables)
      .reverse()
      .flatMap((table) => this.#listMarkedIn(view, table));
  }

  async prune(
    things: readonly MarkedThing[],
    { signal }: SessionOptions,
  ): Promise<ReadonlyMap<MarkedThing, unknown>> {
    const steps = (things as readonly MarkedRow[]).map((thing): Step<MarkedThing> => {
      const { table, name } = thing;
      return { action: 'remove', rows: [{ table, name, columns: {} }], subject: thing };
    });
    const failures = await this.#carryOutAsFarAsPossible(steps, signal);
    return new Map(failures.map(({ step, error }) => [step.subject, error]));
  }

  close(): void {
    // The rows are followed until the backend is closed.
  }

  #carryOutAsFarAsPossible<S>(
    steps: readonly Step<S>[],
    signal: AbortSignal,
  ): Promise<readonly StepFailure<S>[]> {
    return carryOutAsFarAsPossible(steps, (some) => carryOut(this.#link, some, signal));
  }

  #listMarkedIn(view: View, table: string): MarkedRow[] {
    const { database, tables } = this.#link.description;
    return [...view.rows(table).values()].flatMap((row): MarkedRow[] => {
      const id = view.ownIdOf(table, row);
      if (id === undefined) return [];
      const name = nameOf(table, tables[table]!, row)!;
      return [{ key: keyFor(database, id), what: `${tables[table]!.word} ${name}`, table, name }];
    });
  }

  #steps(action: Step['action'], resources: readonly Resource[]): Step<Resource>[] {
    return resources.map((resource) => ({ action, rows: this.#rowsOf(resource), subject: resource }));
  }

  #rowsOf(resource: Resource): Step['rows'] {
    return this.#kinds.get(resource.kind)!.rows(resource);
  }
}

const toFailures = (failures: readonly StepFailure<Resource>[]): Failure[] =>
  failures.map(({ step: { subject: resource }, error }) => ({ resource, error }));
