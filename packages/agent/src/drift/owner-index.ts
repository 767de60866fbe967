/** Every owner of resources on this node, for hints: kept up with what comes and goes. */
import { type Hint, type Lead, type Owned, type OwnerId, type Place, TouchIndex } from '@podwire/engine';
import { type KernelSide, ownedBy, ownerOfEndpoint, type ResourceOwners } from '../endpoints/context.js';

export class OwnerIndex {
  readonly #context: ResourceOwners;
  readonly #index: TouchIndex;
  /** Keys of endpoints that have come, changed or gone since the last {@link refresh}. */
  readonly #changed = new Set<string>();
  #peers = new Set<OwnerId>();
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
    this.#refreshPeers();
  }

  find(hint: Hint, place: Place): Lead {
    return this.#index.find(hint, place);
  }

  /** As of the last {@link refresh}. */
  owned(owner: OwnerId): Owned | undefined {
    return this.#index.get(owner);
  }

  #refreshPeers(): void {
    const peers = this.#context.cluster?.peers;
    if (peers === undefined || peers.revision === this.#revision) return;
    this.#revision = peers.revision;
    const gone = this.#peers;
    this.#peers = new Set();
    for (const owned of peers.owned()) {
      this.#index.put(owned);
      this.#peers.add(owned.owner);
      gone.delete(owned.owner);
    }
    for (const owner of gone) this.#index.drop(owner);
  }
}
