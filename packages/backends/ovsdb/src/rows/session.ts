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
import { unreportedError } from '../errors.js';
import { carryOut, type StepFailure } from './carry-out.js';
import { changeSettings, settingsIn } from './change-settings.js';
import { keyFor } from './description.js';
import { findRows } from './found.js';
import type { RowKind } from './kind.js';
import { awaitReport, findReport, type ReportKind, REPORTS } from './report-kind.js';
import { type SettingKind, SETTINGS, wordsFor } from './setting-kind.js';
import {
  listSettings,
  type Pairs,
  type Setting,
  settingId,
  type SettingName,
  withoutSetting,
  withSetting,
} from './settings.js';
import type { DatabaseLink } from './link.js';
import type { Step } from './plan.js';
import { nameOf, type View } from './view.js';

export type RowKinds = ReadonlyMap<string, RowKind | ReportKind | SettingKind>;

/** A row with our mark. */
interface MarkedRow extends MarkedThing {
  readonly table: string;
  readonly name: string;
}

interface MarkedSetting extends MarkedThing {
  readonly setting: SettingName;
}

export class RowSession implements Session {
  readonly #link: DatabaseLink;
  readonly #kinds: RowKinds;
  readonly #patience: number;

  /** @param patience milliseconds that a report is waited for */
  constructor(link: DatabaseLink, kinds: RowKinds, patience: number) {
    this.#link = link;
    this.#kinds = kinds;
    this.#patience = patience;
  }

  async reaches(): Promise<boolean> {
    return Promise.resolve(true);
  }

  async create({ name, resources }: Batch, { signal }: SessionOptions): Promise<Failure[]> {
    if (name === REPORTS) return this.#awaitReports(resources, signal, (kind, one) => kind.waits?.(one));
    if (name === SETTINGS) return this.#changeSettings(resources, withSetting, signal);
    return toFailures(await carryOut(this.#link, this.#steps('add', resources), signal));
  }

  async repair({ name }: Batch, repairs: readonly Repair[], { signal }: SessionOptions): Promise<Failure[]> {
    const resources = repairs.map(({ resource }) => resource);
    // Other owners wait for their turn in a reconcile.
    if (name === REPORTS) return this.#awaitReports(resources, signal);
    if (name === SETTINGS) return this.#changeSettings(resources, withSetting, signal);
    // A missing row may have come meanwhile.
    const steps = this.#steps('replace', resources);
    return toFailures(await this.#carryOutAsFarAsPossible(steps, signal));
  }

  async remove({ name, resources }: Batch, { signal }: SessionOptions): Promise<Failure[]> {
    if (name === SETTINGS) return this.#changeSettings(resources, withoutSetting, signal);
    return toFailures(await this.#carryOutAsFarAsPossible(this.#steps('remove', resources), signal));
  }

  /**
   * The program must have seen that the rows are gone: those that come next have the same uuids, and what is deleted and inserted
   * between two of its looks is no change.
   */
  async clear(stale: readonly Resource[], { signal }: SessionOptions): Promise<Failure[]> {
    const failed = await this.#carryOutAsFarAsPossible(this.#steps('remove', stale), signal);
    const { database, progress } = this.#link.description;
    if (progress === undefined) return toFailures(failed);
    try {
      await this.#link.settle(progress, { signal, timeout: this.#patience });
      return toFailures(failed);
    } catch (error) {
      signal.throwIfAborted();
      const message = `the program behind the database ${database} has not let go of what was removed`;
      return stale.map((resource) => ({ resource, error: unreportedError(message, error) }));
    }
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
    return new Map(resources.map((one) => [one, { found: this.#find(view, one) }]));
  }

  async listMarked(
    _wanted: readonly Resource[],
    _snapshot: Snapshot | undefined,
    { signal }: SessionOptions,
  ): Promise<(MarkedRow | MarkedSetting)[]> {
    const view = await this.#link.look(signal);
    const { tables } = this.#link.description;
    const rows = Object.keys(tables)
      .reverse()
      .flatMap((table) => this.#listMarkedIn(view, table));
    return [...this.#listMarkedSettings(view), ...rows];
  }

  async prune(
    things: readonly MarkedThing[],
    { signal }: SessionOptions,
  ): Promise<ReadonlyMap<MarkedThing, unknown>> {
    const all = things as readonly (MarkedRow | MarkedSetting)[];
    const isSetting = (thing: MarkedRow | MarkedSetting): thing is MarkedSetting => 'setting' in thing;
    const failed = await this.#pruneSettings(all.filter(isSetting), signal);
    const steps = all.flatMap((thing): Step<MarkedThing>[] => {
      if (isSetting(thing)) return [];
      const { table, name } = thing;
      return [{ action: 'remove', rows: [{ table, name, columns: {} }], subject: thing }];
    });
    const failures = await this.#carryOutAsFarAsPossible(steps, signal);
    return new Map([...failed, ...failures.map(({ step, error }) => [step.subject, error] as const)]);
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

  #find(view: View, resource: Resource): unknown {
    const kind = this.#kinds.get(resource.kind)!;
    if ('rows' in kind) return findRows(view, kind.rows(resource));
    if ('setting' in kind) return settingsIn(view, this.#link.description.settings!);
    return findReport(view, kind, resource);
  }

  async #changeSettings(
    resources: readonly Resource[],
    change: (pairs: Pairs, setting: Setting) => Pairs,
    signal: AbortSignal,
  ): Promise<Failure[]> {
    const settings = resources.map((one) => (this.#kinds.get(one.kind) as SettingKind).setting(one));
    const error = await orError(changeSettings(this.#link, { settings, change }, signal), signal);
    return error === undefined ? [] : resources.map((resource) => ({ resource, error }));
  }

  async #pruneSettings(
    things: readonly MarkedSetting[],
    signal: AbortSignal,
  ): Promise<readonly (readonly [MarkedThing, unknown])[]> {
    const settings = things.map(({ setting }) => setting);
    const pruning = { settings, change: withoutSetting };
    const error = await orError(changeSettings(this.#link, pruning, signal), signal);
    return error === undefined ? [] : things.map((thing) => [thing, error]);
  }

  #listMarkedSettings(view: View): MarkedSetting[] {
    const { database, settings } = this.#link.description;
    if (settings === undefined) return [];
    return listSettings(settingsIn(view, settings)).map((setting) => ({
      ...{ key: keyFor(database, settingId(setting)), what: wordsFor(setting), setting },
    }));
  }

  /** @param waitFor milliseconds, where a resource takes longer than the program does otherwise */
  async #awaitReports(
    resources: readonly Resource[],
    signal: AbortSignal,
    waitFor: (kind: ReportKind, resource: Resource) => number | undefined = () => undefined,
  ): Promise<Failure[]> {
    const failures = resources.map(async (resource): Promise<Failure[]> => {
      const kind = this.#kinds.get(resource.kind) as ReportKind;
      const patience = waitFor(kind, resource) ?? this.#patience;
      const error = await awaitReport(this.#link, kind, resource, { signal, patience });
      return error === undefined ? [] : [{ resource, error }];
    });
    return (await Promise.all(failures)).flat();
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
    return (this.#kinds.get(resource.kind) as RowKind).rows(resource);
  }
}

/** All settings of a transaction share one outcome. @throws the signal's reason */
async function orError(work: Promise<void>, signal: AbortSignal): Promise<unknown> {
  try {
    await work;
    return undefined;
  } catch (error) {
    signal.throwIfAborted();
    return error;
  }
}

const toFailures = (failures: readonly StepFailure<Resource>[]): Failure[] =>
  failures.map(({ step: { subject: resource }, error }) => ({ resource, error }));
