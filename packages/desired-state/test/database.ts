/** A database as a backend: rows in tables, each with our mark or without. It may be silent, and others may write to it. */
import type {
  Backend,
  Batch,
  Failure,
  Kind,
  MarkedThing,
  Observed,
  Repair,
  Resource,
  Session,
} from '@podwire/engine';

export interface Row {
  readonly kind: 'row';
  readonly table: string;
  readonly name: string;
  readonly columns: Readonly<Record<string, string>>;
}

declare module '@podwire/engine' {
  interface ResourceKinds {
    row: Row;
  }
}

interface Stored {
  readonly columns: string;
  readonly isOurs: boolean;
}

const keyOf = ({ table, name }: Row): string => `${table}/${name}`;
const textOf = ({ columns }: Row): string => JSON.stringify(columns);

const row: Kind<Row, Stored | undefined> = {
  kind: 'row',
  backend: 'database',
  batch: 'rows',
  place: () => 'host',
  key: keyOf,
  describe: (one) => `row ${keyOf(one)}`,
  // A port is a row of a switch.
  after: ({ columns }) => (columns['switch'] === undefined ? [] : [`switch/${columns['switch']}`]),
  inPlace: true,
  independent: true,
  check: () => undefined,
  compare(one, found) {
    if (found === undefined) return { missing: `there is no row ${keyOf(one)}` };
    return found.columns === textOf(one) ? undefined : `row ${keyOf(one)} has ${found.columns}`;
  },
};

export class Database {
  readonly rows = new Map<string, Stored>();
  /** Keys in the order in which they were written. */
  readonly written: string[] = [];
  /** Fails the write of these keys. */
  readonly refused = new Set<string>();

  createBackend(): Backend {
    return {
      name: 'database',
      kinds: [row],
      open: () => this.#openSession(),
      isAbsent: () => false,
      isConflict: () => false,
      close: () => undefined,
    };
  }

  /** As an administrator does it. */
  writeForeign(key: string, columns: string): void {
    this.rows.set(key, { columns, isOurs: false });
  }

  /** Every row with our mark, as `KEY COLUMNS`. */
  listOurs(): string[] {
    const ours = [...this.rows].filter(([, { isOurs }]) => isOurs);
    return ours.map(([key, { columns }]) => `${key} ${columns}`).sort();
  }

  #openSession(): Session {
    return {
      reaches: async () => Promise.resolve(true),
      create: async ({ resources }) => this.#write(resources),
      repair: async (_batch: Batch, repairs: readonly Repair[]) =>
        this.#write(repairs.map(({ resource }) => resource)),
      remove: async ({ resources }) => {
        for (const one of resources) this.rows.delete(keyOf(one));
        return Promise.resolve([]);
      },
      observe: async (resources): Promise<Observed> =>
        Promise.resolve(new Map(resources.map((one) => [one, { found: this.rows.get(keyOf(one)) }]))),
      listMarked: async (): Promise<MarkedThing[]> => {
        const ours = [...this.rows].filter(([, { isOurs }]) => isOurs);
        return Promise.resolve(ours.map(([key]) => ({ key, what: `row ${key}` })));
      },
      prune: async (things) => {
        for (const { key } of things) this.rows.delete(key);
        return Promise.resolve(new Map());
      },
      close: () => undefined,
    };
  }

  async #write(resources: readonly Resource[]): Promise<Failure[]> {
    const failures: Failure[] = [];
    for (const one of resources) {
      if (this.refused.has(keyOf(one))) {
        failures.push({ resource: one, error: new Error(`row ${keyOf(one)} is refused`) });
        continue;
      }
      this.rows.set(keyOf(one), { columns: textOf(one), isOurs: true });
      this.written.push(keyOf(one));
    }
    return Promise.resolve(failures);
  }
}
