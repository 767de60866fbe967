import type {
  Backend,
  Batch,
  Failure,
  MarkedThing,
  Observed,
  Repair,
  Resource,
  Session,
  SessionOptions,
  Snapshot,
} from '@podwire/engine';
import { type Element, type ElementChange, type Nftables, NftablesError } from '@podwire/nftables';
import type { Kernel } from '../kernel.js';
import { observeEach } from '../kinds.js';
import { isAbsent, isConflict } from '../errors.js';
import { acceptForwarded, stopAccepting } from './forward-accept.js';
import { joinKey, nftablesKinds } from './kinds.js';
import { type Leftover, listElements, listMarked, pruneBatch } from './prune.js';
import type { NftablesResources, NftElement, NftTable } from './resources.js';

/** The packet filter of the node: tables of ours, elements of their sets, and a jump in iptables' FORWARD. */
export function createNftables(kernel: Kernel): Backend {
  const { nftables } = kernel;
  return {
    name: 'nftables',
    kinds: Object.values(nftablesKinds),
    open: () => new NftablesSession(nftables),
    snapshot: () => new SetSnapshot(nftables),
    isAbsent,
    isConflict,
    close: () => kernel.close(),
  };
}

type AnyNftables = NftablesResources[keyof NftablesResources];

class NftablesSession implements Session {
  readonly #nftables: Nftables;

  constructor(nftables: Nftables) {
    this.#nftables = nftables;
  }

  reaches(): boolean {
    return true;
  }

  async create(batch: Batch, { signal }: SessionOptions): Promise<Failure[]> {
    if (batch.name === 'elements') return this.#change(batch.resources, 'add');
    return this.#each(batch.resources, async (resource) => this.#load(resource, signal));
  }

  async repair(batch: Batch, repairs: readonly Repair[], options: SessionOptions): Promise<Failure[]> {
    if (batch.name !== 'elements') return this.create(batch, options);
    return (['replace', 'add'] as const).flatMap((op) =>
      this.#changeAsFarAsPossible(
        repairs.filter((repair) => repairBy(repair) === op).map(({ resource }) => resource),
        op,
      ),
    );
  }

  async remove(batch: Batch, { signal }: SessionOptions): Promise<Failure[]> {
    if (batch.name === 'elements') return this.#change(batch.resources, 'destroy');
    return this.#each(batch.resources, async (resource) => this.#unload(resource, signal));
  }

  async observe(resources: readonly Resource[], snapshot: Snapshot | undefined): Promise<Observed> {
    const sets = snapshot as SetSnapshot | undefined;
    return Promise.resolve(
      observeEach(resources as readonly AnyNftables[], (resource) => this.#observe(resource, sets)),
    );
  }

  #observe(resource: AnyNftables, sets: SetSnapshot | undefined): unknown {
    switch (resource.kind) {
      case 'nft-table':
        return this.#nftables.tableDigest(resource.family, resource.name);
      case 'forward-accept':
        return this.#nftables.forwardPolicy(resource.family, resource.chain);
      case 'nft-element':
        return sets === undefined ? this.#nftables.getElement(resource) : sets.find(resource);
    }
  }

  async listMarked(wanted: readonly Resource[]): Promise<MarkedThing[]> {
    return Promise.resolve(listMarked(this.#nftables, wanted));
  }

  async prune(things: readonly MarkedThing[]): Promise<Map<MarkedThing, unknown>> {
    return Promise.resolve(pruneBatch(this.#nftables, things as readonly Leftover[]));
  }

  close(): void {
    // Nothing is opened for a call.
  }

  async #load(resource: Resource, signal: AbortSignal): Promise<void> {
    if (resource.kind === 'forward-accept') await acceptForwarded(this.#nftables, resource, signal);
    else await this.#nftables.applyTable(resource as NftTable, { signal });
  }

  async #unload(resource: Resource, signal: AbortSignal): Promise<void> {
    if (resource.kind === 'forward-accept') return await stopAccepting(this.#nftables, resource, signal);
    this.#nftables.deleteTable((resource as NftTable).family, (resource as NftTable).name);
  }

  async #each(
    resources: readonly Resource[],
    work: (resource: Resource) => Promise<unknown>,
  ): Promise<Failure[]> {
    const failures: Failure[] = [];
    for (const resource of resources) {
      await work(resource).catch((error: unknown) => failures.push({ resource, error }));
    }
    return failures;
  }

  /** One transaction: when one element is refused, none is changed, and the others share the first failure. */
  #change(resources: readonly Resource[], op: ElementChange['op']): Failure[] {
    const elements = resources as readonly NftElement[];
    try {
      this.#nftables.change(elements.map(({ kind: _, ...element }): ElementChange => ({ op, ...element })));
      return [];
    } catch (error) {
      const own = error instanceof NftablesError ? failuresByIndex(error) : new Map<number, NftablesError>();
      const [first = error] = own.values();
      return elements.map((resource, index) => ({ resource, error: own.get(index) ?? first }));
    }
  }

  /** All in one transaction if possible, otherwise each in its own. */
  #changeAsFarAsPossible(resources: readonly Resource[], op: ElementChange['op']): Failure[] {
    if (resources.length === 0) return [];
    const failures = this.#change(resources, op);
    if (failures.length === 0 || resources.length === 1) return failures;
    return resources.flatMap((resource) => this.#change([resource], op));
  }
}

/** What is in the way of an interval is in no list any more: nothing else can be in the sets of our tables. */
function repairBy({ resource, action }: Repair): Repair['action'] {
  const [part] = (resource as NftElement).key;
  return part?.type === 'ipv4_interval' || part?.type === 'ipv6_interval' ? 'replace' : action;
}

function failuresByIndex({ failures }: NftablesError): Map<number, NftablesError> {
  return new Map(
    failures.flatMap((failure) =>
      failure.index === undefined ? [] : [[failure.index, new NftablesError([failure])]],
    ),
  );
}

/** Sets, each read whole when an element of it is first asked for. */
class SetSnapshot implements Snapshot {
  readonly #nftables: Nftables;
  readonly #sets = new Map<string, ReadonlyMap<string, Element>>();

  constructor(nftables: Nftables) {
    this.#nftables = nftables;
  }

  find(wanted: NftElement): Element | undefined {
    const name = `${wanted.family} ${wanted.table} ${wanted.set}`;
    let elements = this.#sets.get(name);
    if (elements === undefined) {
      elements = new Map(listElements(this.#nftables, wanted).map((element) => [joinKey(element), element]));
      this.#sets.set(name, elements);
    }
    return elements.get(joinKey(wanted));
  }

  readAhead(): Promise<void> {
    return Promise.resolve();
  }
}
