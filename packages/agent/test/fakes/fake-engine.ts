import { linuxKinds } from '@podwire/backend-linux';
import {
  type CallOptions,
  type Change,
  type ChangeSet,
  createKindRegistry,
  type Drift,
  type Engine,
  type Owned,
  type Owner,
  type Reconcile,
  type ReconcileOptions,
  type Resource,
} from '@podwire/engine';
import { PodwireError } from '@podwire/errors';

/** Identity of a resource, apart from its settings: two resources of one identity cannot both be there. */
function identityOf(resource: Resource, owned: Owned): string {
  const side = 'in' in resource && resource.in === 'pod' ? `pod ${owned.namespace?.inode}` : 'host';
  switch (resource.kind) {
    case 'veth':
      return `link ${resource.host.name}`;
    case 'route':
      return `${side} route ${resource.destination} ${resource.link ?? ''} ${resource.table ?? ''} ${resource.metric ?? ''}`;
    case 'address':
      return `${side} address ${resource.link} ${resource.address}`;
    case 'nft-element':
      return `element ${resource.set} ${JSON.stringify(resource.key)}`;
    case 'nft-table':
      return `table ${resource.name}`;
    default:
      return `${side} ${JSON.stringify(resource)}`;
  }
}

/** Things that Linux keeps without an owner, or that many owners share. */
function isLasting({ kind }: Resource): boolean {
  return kind === 'sysctl' || kind === 'conntrack-reset';
}

export interface Present {
  readonly owner: string;
  readonly resource: Resource;
}

/** Content of the kernel by identity. Outlives an engine, as the real one does. */
export type FakeKernel = Map<string, Present>;

export interface FakeEngineOptions {
  readonly kernel?: FakeKernel;
  /** Awaited between two resources: where a test lets other work come in between, or throws. */
  readonly between?: (point: string) => Promise<void> | void;
}

/** An engine on a kernel in memory. It is strict: what is there under another owner or in another form is an error. */
export class FakeEngine implements Engine {
  readonly kinds = createKindRegistry(Object.values(linuxKinds));
  readonly present: FakeKernel;
  readonly calls: string[] = [];
  between: (point: string) => Promise<void> | void;
  /** Owners that are being worked on; two calls for one owner at once are a fault of the caller. */
  readonly busy = new Set<string>();
  closed = false;
  /** Answers a repair instead of the kernel in memory, where it returns something. */
  repairWith: (owned: Owned, options: CallOptions) => Promise<Change[]> | undefined = () => undefined;
  /** Faults of the caller. An agent turns errors into answers, so a test must look here. */
  readonly violations: string[] = [];

  constructor({ kernel = new Map<string, Present>(), between = () => undefined }: FakeEngineOptions = {}) {
    this.present = kernel;
    this.between = between;
  }

  async apply(owned: Owned, { signal, trace }: CallOptions): Promise<void> {
    await this.#alone(owned.owner, async () => {
      this.calls.push(`apply ${owned.owner}`);
      const done: string[] = [];
      try {
        for (const resource of owned.resources) {
          await this.between(`apply ${resource.kind}`);
          if (signal.aborted)
            throw new PodwireError('DEADLINE_EXCEEDED', 'given up', { cause: signal.reason });
          this.#add(owned, resource, done);
          trace?.({ resource, action: 'apply', start: 0, duration: 0, batch: 0 });
        }
      } catch (error) {
        for (const identity of done.reverse()) this.present.delete(identity);
        throw error;
      }
    });
  }

  #add(owned: Owned, resource: Resource, done: string[]): void {
    if (isLasting(resource)) return;
    const identity = identityOf(resource, owned);
    const there = this.present.get(identity);
    if (there === undefined) {
      this.present.set(identity, { owner: owned.owner, resource });
      done.push(identity);
    } else if (JSON.stringify(there.resource) !== JSON.stringify(resource)) {
      throw new PodwireError('KERNEL_REFUSED', `${identity} is there already, of ${there.owner}`);
    }
  }

  async remove(owned: Owned, { trace }: CallOptions): Promise<void> {
    await this.#alone(owned.owner, async () => {
      this.calls.push(`remove ${owned.owner}`);
      for (const resource of owned.resources.toReversed()) {
        await this.between(`remove ${resource.kind}`);
        const identity = identityOf(resource, owned);
        if (this.present.get(identity)?.owner === owned.owner) this.present.delete(identity);
        trace?.({ resource, action: 'remove', start: 0, duration: 0, batch: 0 });
      }
    });
  }

  async change(
    owner: Owner,
    { remove = [], replace = [], add = [] }: ChangeSet,
    call: CallOptions,
  ): Promise<void> {
    if (remove.length + replace.length === 0) return this.apply({ ...owner, resources: add }, call);
    if (add.length + replace.length === 0) return this.remove({ ...owner, resources: remove }, call);
    await this.#alone(owner.owner, async () => {
      this.calls.push(`change ${owner.owner}`);
      await this.between('change');
      if (call.signal.aborted)
        throw new PodwireError('DEADLINE_EXCEEDED', 'given up', { cause: call.signal.reason });
      const owned = { ...owner, resources: [...remove, ...replace, ...add] };
      for (const resource of remove) this.present.delete(identityOf(resource, owned));
      for (const resource of replace)
        this.present.set(identityOf(resource, owned), { owner: owner.owner, resource });
      for (const resource of add) this.#add(owned, resource, []);
      await this.between('changed');
    });
  }

  async verify(owned: Owned): Promise<Drift[]> {
    this.calls.push(`verify ${owned.owner}`);
    await this.between('verify');
    return owned.resources
      .filter((resource) => !isLasting(resource) && !this.present.has(identityOf(resource, owned)))
      .map((resource) => ({ resource, state: 'missing', detail: 'it is not there' }));
  }

  async reconcile(desired: readonly Owned[], options: ReconcileOptions): Promise<Change[]> {
    const round = this.startReconcile(() => desired);
    return [...(await round.repair(desired, options)), ...(await round.finish(options))];
  }

  startReconcile(wanted: () => Iterable<Owned>): Reconcile {
    this.calls.push('reconcile');
    return {
      repair: async (owners, options) => {
        const changes: Change[] = [];
        for (const owned of owners)
          await this.#alone(owned.owner, async () => {
            await this.between('reconcile');
            changes.push(...((await this.repairWith(owned, options)) ?? this.#repair(owned)));
          });
        return changes;
      },
      finish: async ({ keepLeftovers }) => {
        const listed = [...this.present.keys()];
        await this.between('reconcile');
        return keepLeftovers === true ? [] : this.#prune(listed, wanted());
      },
    };
  }

  #repair(owned: Owned): Change[] {
    return owned.resources
      .filter((each) => !isLasting(each))
      .flatMap((resource): Change[] => {
        const identity = identityOf(resource, owned);
        const there = this.present.get(identity);
        if (JSON.stringify(there?.resource) === JSON.stringify(resource)) return [];
        this.present.set(identity, { owner: owned.owner, resource });
        return [{ owner: owned.owner, action: 'repaired', what: identity }];
      });
  }

  #prune(listed: readonly string[], wanted: Iterable<Owned>): Change[] {
    const identities = new Set(
      [...wanted].flatMap((owned) => owned.resources.map((resource) => identityOf(resource, owned))),
    );
    return listed
      .filter((identity) => !identities.has(identity) && this.present.delete(identity))
      .map((what) => ({ action: 'removed', what }));
  }

  abandonedCalls(): ReadonlyMap<string, number> {
    return new Map();
  }

  settle(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    this.closed = true;
    return Promise.resolve();
  }

  /** Resources of an owner that are there. */
  of(owner: string): Resource[] {
    return [...this.present.values()].filter((each) => each.owner === owner).map(({ resource }) => resource);
  }

  async #alone(owner: string, work: () => Promise<void>): Promise<void> {
    if (this.busy.has(owner)) this.violations.push(`two calls for ${owner} at once`);
    this.busy.add(owner);
    try {
      await work();
    } finally {
      this.busy.delete(owner);
    }
  }
}
