/** A whole controller: it follows objects, and a database has the rows that they need. */
import { DesiredState } from '@podwire/desired-state';
import { type Change, createEngine, type Engine } from '@podwire/engine';
import { type JournalFile, openJournal, type Read } from '@podwire/planner';
import { silentLog } from '@podwire/platform';
import type { Database, Row } from './database.js';

export interface Subnet {
  readonly name: string;
  readonly cidr: string;
  readonly ports: readonly string[];
}

declare module '@podwire/planner' {
  interface FactKinds {
    subnet: Subnet | undefined;
    zone: string;
  }
}

export function planSubnet(name: string, read: Read): Row[] | undefined {
  const subnet = read(`subnet/${name}`);
  if (subnet === undefined) return undefined;
  if (subnet.cidr === '') throw new RangeError(`subnet ${name} has no cidr`);
  const ports = subnet.ports.map((port): Row => ({
    kind: 'row',
    table: 'port',
    name: port,
    columns: { switch: name },
  }));
  return [
    ...ports,
    { kind: 'row', table: 'switch', name, columns: { cidr: subnet.cidr, zone: read('zone') } },
    { kind: 'row', table: 'zone', name: read('zone'), columns: {} },
  ];
}

export class Controller {
  /** Where objects come from; undefined while that is away. */
  source: ReadonlyMap<string, Subnet> | undefined;
  zone = 'one';
  readonly problems = new Map<string, unknown>();
  readonly desired: DesiredState;
  readonly #engine: Engine;
  readonly #known = new Map<string, Subnet>();

  constructor(database: Database, file: JournalFile) {
    this.#engine = createEngine({ backends: [database.createBackend()] });
    this.desired = new DesiredState({ kinds: this.#engine.kinds, log: silentLog });
    const journal = openJournal<Subnet>({
      ...{ file, failure: 'subnets could not be written down', log: silentLog },
      parse(line) {
        const value = line as Subnet | { readonly gone: string };
        return 'gone' in value ? { name: value.gone } : { name: value.name, value };
      },
    });
    this.desired.register<Subnet>({
      kind: 'subnet',
      plan: planSubnet,
      ownerOf: (name) => `subnet:${name}`,
      sources: { zone: () => this.zone },
      memory: { journal, read: (name) => (this.source ?? this.#known).get(name) },
      onPlanned: (name, { fact, error }) => this.#note(name, fact, error),
    });
    this.desired.adopt('subnet');
  }

  async follow(...names: string[]): Promise<void> {
    for (const name of names) this.desired.planner.markScope(`subnet/${name}`);
    const { failed } = await this.desired.follow({ engine: this.#engine, signal: soon() });
    for (const [scope, error] of failed) this.problems.set(scope, error);
  }

  async reconcile(): Promise<readonly Change[]> {
    return this.desired.reconcile({ engine: this.#engine, signal: soon() });
  }

  #note(name: string, fact: Subnet | undefined, error: unknown): void {
    if (fact === undefined) this.#known.delete(name);
    else this.#known.set(name, fact);
    if (error === undefined) this.problems.delete(`subnet/${name}`);
    else this.problems.set(`subnet/${name}`, error);
  }
}

/** The end of a call that hangs. */
export const soon = (): AbortSignal => AbortSignal.timeout(10_000);
