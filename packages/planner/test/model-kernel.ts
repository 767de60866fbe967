/** A kernel with room for one thing at each key, an engine on it that can fail, and plans with shared and contested keys. */
import type {} from '@podwire/backend-linux/resources';
import type { CallOptions, Engine, Owned, Resource } from '@podwire/engine';
import type { Plan } from '@podwire/planner';

export const keyOf = (resource: Resource): string =>
  resource.kind === 'route' ? `route ${resource.destination}` : JSON.stringify(resource);

/** What happens to the next call: carried out, refused as a whole, or given up half way with half of it done. */
export type Fate = 'done' | 'refused' | 'aborted';

export class ModelKernel {
  readonly present = new Map<string, Resource>();
  /** Of the calls to come; `done` when it is empty. */
  fates: Fate[] = [];
  abort = new AbortController();
  calls = 0;

  readonly engine: Pick<Engine, 'apply' | 'remove'> = {
    apply: async (owned, options) => this.#call(owned, options, (one) => this.#add(one)),
    remove: async (owned, options) =>
      this.#call(owned, options, (one) => void this.present.delete(keyOf(one))),
  };

  async #call({ resources }: Owned, { signal }: CallOptions, work: (one: Resource) => void): Promise<void> {
    await Promise.resolve();
    signal.throwIfAborted();
    this.calls += 1;
    const fate = this.fates.shift() ?? 'done';
    if (fate === 'aborted') {
      for (const one of resources.slice(0, resources.length >> 1)) work(one);
      this.abort.abort(new Error('aborted'));
      signal.throwIfAborted();
    }
    const before = new Map(this.present);
    try {
      for (const one of resources) work(one);
      // A removal that is refused is left to a reconcile, which is not part of this model.
      if (fate === 'refused' && this.present.size >= before.size) throw new Error('refused');
    } catch (error) {
      this.present.clear();
      for (const [key, one] of before) this.present.set(key, one);
      throw error;
    }
  }

  #add(resource: Resource): void {
    const there = this.present.get(keyOf(resource));
    if (there !== undefined && JSON.stringify(there) !== JSON.stringify(resource))
      throw new Error(`EEXIST ${keyOf(resource)}`);
    this.present.set(keyOf(resource), resource);
  }
}

/** Facts: `underlay` is a link name, `peer/N` a peer or nothing. */
export interface PeerFact {
  readonly address: string;
  readonly blocks: readonly string[];
}

/** One route for each block, and a parameter that all peers share. */
export const planPeer: Plan<Resource> = (scope, read) => {
  const peer = read(scope) as PeerFact | undefined;
  if (peer === undefined) return undefined;
  const link = read('underlay') as string;
  const shared: Resource = {
    kind: 'sysctl',
    in: 'host',
    key: `net/ipv4/conf/${link}/forwarding`,
    value: '1',
  };
  const routes = peer.blocks.map((destination): Resource => ({
    ...{ kind: 'route', in: 'host', destination },
    ...{ link, gateway: peer.address },
  }));
  return [shared, ...routes];
};
