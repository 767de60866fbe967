import type {
  Backend,
  Batch,
  Exchange,
  Failure,
  MarkedThing,
  Observed,
  Repair,
  Resource,
  Session,
  SessionOptions,
  Snapshot,
} from '@podwire/engine';
import type { ElementChange, Nftables } from '@podwire/nftables';
import { isAbsent, isConflict } from '../errors.js';
import type { Kernel } from '../kernel.js';
import { observeEach } from '../kinds.js';
import { watchFilter } from '../watch/index.js';
import {
  carryOut,
  carryOutAsFarAsPossible,
  type InTransaction,
  isInTransaction,
  putCommand,
  removeCommand,
  type Step,
} from './commands.js';
import { acceptForwarded, stopAccepting } from './forward-accept.js';
import { nftablesKinds } from './kinds.js';
import { TRANSACTION } from './own-table-kinds.js';
import { type Leftover, listMarked, pruneBatch } from './prune.js';
import type { NftablesResources, NftElement, NftTable } from './resources.js';
import { TableSnapshot } from './snapshot.js';

/** The packet filter of the node: tables of ours, what is in them, and a jump in iptables' FORWARD. */
export function createNftables(kernel: Kernel): Backend {
  const { nftables } = kernel;
  return {
    name: 'nftables',
    kinds: Object.values(nftablesKinds),
    open: () => new NftablesSession(nftables),
    snapshot: () => new TableSnapshot(nftables),
    isAbsent,
    isConflict,
    changes: [watchFilter(kernel)],
    close: () => kernel.close(),
  };
}

type AnyNftables = NftablesResources[keyof NftablesResources];

/** More than so many are looked at by reading what they are in. */
const MANY = 32;

class NftablesSession implements Session {
  readonly #nftables: Nftables;

  constructor(nftables: Nftables) {
    this.#nftables = nftables;
  }

  async reaches(): Promise<boolean> {
    return Promise.resolve(true);
  }

  async create(batch: Batch, { signal }: SessionOptions): Promise<Failure[]> {
    if (batch.name === TRANSACTION) return carryOut(this.#nftables, putSteps(batch.resources, 'add'));
    return this.#each(batch.resources, async (resource) => this.#load(resource, signal));
  }

  async repair(batch: Batch, repairs: readonly Repair[], options: SessionOptions): Promise<Failure[]> {
    if (batch.name !== TRANSACTION) return this.create(batch, options);
    const steps = repairs.map((repair): Step => [
      repair.resource,
      putCommand(repair.resource as InTransaction, repairBy(repair)),
    ]);
    return carryOutAsFarAsPossible(this.#nftables, steps);
  }

  async remove(batch: Batch, { signal }: SessionOptions): Promise<Failure[]> {
    if (batch.name === TRANSACTION)
      return carryOutAsFarAsPossible(this.#nftables, removeSteps(batch.resources));
    return this.#each(batch.resources, async (resource) => this.#unload(resource, signal));
  }

  /** Everything but tables that nft makes, and iptables' chain. */
  async exchange({ add, replace, remove }: Exchange): Promise<Failure[]> {
    const strangers = [...add, ...replace, ...remove].filter((resource) => !isInTransaction(resource));
    if (strangers.length > 0) {
      const error = new RangeError('it is not changed through netlink');
      return Promise.resolve(strangers.map((resource) => ({ resource, error })));
    }
    const isNew = new Set(add);
    const coming = [...replace, ...add].map((one) =>
      isNew.has(one) ? putSteps([one], 'add')[0]! : exchangeStep(one),
    );
    const steps = [...removeSteps(remove), ...coming];
    return Promise.resolve(carryOut(this.#nftables, steps));
  }

  async observe(resources: readonly Resource[], snapshot: Snapshot | undefined): Promise<Observed> {
    const given = snapshot as TableSnapshot | undefined;
    const read = given ?? (resources.length > MANY ? new TableSnapshot(this.#nftables) : undefined);
    return Promise.resolve(
      observeEach(resources as readonly AnyNftables[], (resource) =>
        read === undefined ? this.#observe(resource) : this.#find(resource, read),
      ),
    );
  }

  #observe(resource: AnyNftables): unknown {
    const nftables = this.#nftables;
    switch (resource.kind) {
      case 'nft-table':
        return nftables.tableDigest(resource.family, resource.name);
      case 'forward-accept':
        return nftables.forwardPolicy(resource.family, resource.chain);
      case 'nft-own-table':
        return new TableSnapshot(nftables).hasTable(resource);
      case 'nft-set':
        return nftables.getSet({ ...resource, set: resource.set.name });
      case 'nft-chain':
        return nftables.getChain({ ...resource, chain: resource.chain.name });
      case 'nft-element':
        return nftables.getElement(resource);
    }
  }

  #find(resource: AnyNftables, snapshot: TableSnapshot): unknown {
    switch (resource.kind) {
      case 'nft-own-table':
        return snapshot.hasTable(resource);
      case 'nft-set':
        return snapshot.findSet(resource);
      case 'nft-chain':
        return snapshot.findChain(resource);
      case 'nft-element':
        return snapshot.findElement(resource);
      default:
        return this.#observe(resource);
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
}

const putSteps = (resources: readonly Resource[], op: ElementChange['op']): Step[] =>
  resources.map((resource) => [resource, putCommand(resource as InTransaction, op)]);

/** A key without data is what it is: one message, where taking the place of something needs two. */
function exchangeStep(resource: Resource): Step {
  const isKeyAlone =
    resource.kind === 'nft-element' && resource.chain === undefined && resource.value === undefined;
  const op = isKeyAlone && !isInterval(resource) ? 'add' : 'replace';
  return [resource, putCommand(resource as InTransaction, op)];
}

const removeSteps = (resources: readonly Resource[]): Step[] =>
  resources.map((resource) => [resource, removeCommand(resource as InTransaction)]);

/** An element in the way of an interval is in no list any more: nothing else can be in the sets of our tables. */
function repairBy({ resource, action }: Repair): Repair['action'] {
  return resource.kind === 'nft-element' && isInterval(resource) ? 'replace' : action;
}

const isInterval = ({ key: [part] }: NftElement): boolean =>
  part?.type === 'ipv4_interval' || part?.type === 'ipv6_interval';
