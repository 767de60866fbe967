/** Every owner of resources on this node, for hints: kept up with what comes and goes. */
import { type Hint, type Lead, type Owned, type OwnerId, type Place, TouchIndex } from '@podwire/engine';
import { besideNode } from '../node/scope-kinds.js';
import { type KernelSide, ownedBy, type ResourceOwners } from '../endpoints/context.js';
import { ownerOfEndpoint } from '../endpoints/owners.js';

export class OwnerIndex {
  readonly #context: ResourceOwners;
  readonly #index: TouchIndex;
  /** Keys of endpoints that have come, changed or gone since the last {@link refresh}. */
  readonly #changed = new Set<string>();
  /** Peers, and what else is planned beside the node's own part. */
  #planned = new Set<OwnerId>();
  #revision: number | undefined;

  constructor(context: ResourceOwners & Pick<KernelSide, 'engine'>) {
    this.#context = context;
    this.#index = new TouchIndex(context.engine.kinds);
    for (const record of context.endpoints.all()) this.#index.put(ownedBy(record));
    context.endpoints.onChange((key) => this.#changed.add(key));
  }

  /** Costs by what has changed. Not done with each change: an ADD must not wait for it. */
  refresh(): void {
    const { endpoints, node, policy } = this.#context;
    for (const key of this.#changed) {
      const record = endpoints.get(key);
      if (record === undefined) this.#index.drop(ownerOfEndpoint(key));
      else this.#index.put(ownedBy(record));
    }
    this.#changed.clear();
    this.#index.put(node.owned());
    for (const owned of policy?.owned() ?? []) this.#index.put(owned);
    this.#refreshPlanned();
  }

  find(hint: Hint, place: Place): Lead {
    return this.#index.find(hint, place);
  }

  /** As of the last {@link refresh}. */
  owned(owner: OwnerId): Owned | undefined {
    return this.#index.get(owner);
  }

  #refreshPlanned(): void {
    const { desired } = this.#context;
    if (desired.revision === this.#revision) return;
    this.#revision = desired.revision;
    const gone = this.#planned;
    this.#planned = new Set();
    for (const owned of desired.owned(besideNode)) {
      this.#index.put(owned);
      this.#planned.add(owned.owner);
      gone.delete(owned.owner);
    }
    for (const owner of gone) this.#index.drop(owner);
  }
}
