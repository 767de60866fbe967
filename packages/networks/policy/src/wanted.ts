/** Everything that is wanted, and what has changed of it since the last look. */
import type { Resource } from '@podwire/engine';
import type { NftChain, NftElement, NftOwnTable, NftSet } from '@podwire/backend-linux/resources';
import { groupBy } from '@podwire/platform';
import type { RenderedDelta } from './contract.js';

type Wanted = NftOwnTable | NftSet | NftChain | NftElement;

/** In order of creation. Elements of verdict maps lead to chains. */
const ranks = ['table', 'set', 'member', 'chain', 'verdict'] as const;
type Rank = (typeof ranks)[number];

function rankOf(resource: Wanted): Rank {
  switch (resource.kind) {
    case 'nft-own-table':
      return 'table';
    case 'nft-set':
      return 'set';
    case 'nft-chain':
      return 'chain';
    case 'nft-element':
      return resource.chain === undefined ? 'member' : 'verdict';
  }
}

export function keyOf(resource: Resource): string {
  const wanted = resource as Wanted;
  switch (wanted.kind) {
    case 'nft-own-table':
      return 'table';
    case 'nft-set':
      return `set ${wanted.set.name}`;
    case 'nft-chain':
      return `chain ${wanted.chain.name}`;
    case 'nft-element':
      return `element ${wanted.set} ${wanted.key.map(({ value }) => value).join(' ')}`;
  }
}

export class WantedResources {
  readonly #resources = new Map<string, Resource>();
  /** Of what was touched: what it was at the last look. */
  readonly #before = new Map<string, Resource | undefined>();
  /** How many parts want a resource that several may share. */
  readonly #uses = new Map<string, number>();

  put(resource: Resource): void {
    const key = keyOf(resource);
    this.#touch(key);
    this.#resources.set(key, resource);
  }

  delete(resource: Resource): void {
    const key = keyOf(resource);
    this.#touch(key);
    this.#resources.delete(key);
  }

  /** One part has `after` in place of `before`; what other parts want too stays. */
  exchange(before: readonly Resource[], after: readonly Resource[]): void {
    for (const resource of unique(after)) {
      this.#count(resource, 1);
      this.put(resource);
    }
    for (const resource of unique(before)) if (this.#count(resource, -1) === 0) this.delete(resource);
  }

  findChain(name: string): NftChain | undefined {
    return this.#resources.get(`chain ${name}`) as NftChain | undefined;
  }

  get list(): readonly Resource[] {
    return ranked([...this.#resources.values()]);
  }

  /** Changes since the last call. */
  take(): RenderedDelta {
    const add: Resource[] = [];
    const remove: Resource[] = [];
    for (const [key, before] of this.#before) {
      const after = this.#resources.get(key);
      if (after === undefined) {
        if (before !== undefined) remove.push(before);
      } else if (before === undefined || isOther(before, after)) add.push(after);
    }
    this.#before.clear();
    return { add: ranked(add), remove: ranked(remove).reverse() };
  }

  #touch(key: string): void {
    if (!this.#before.has(key)) this.#before.set(key, this.#resources.get(key));
  }

  #count(resource: Resource, change: 1 | -1): number {
    const key = keyOf(resource);
    const count = (this.#uses.get(key) ?? 0) + change;
    if (count === 0) this.#uses.delete(key);
    else this.#uses.set(key, count);
    return count;
  }
}

const isOther = (before: Resource, after: Resource): boolean =>
  before !== after && JSON.stringify(before) !== JSON.stringify(after);

const unique = (resources: readonly Resource[]): Resource[] => [
  ...new Map(resources.map((resource) => [keyOf(resource), resource])).values(),
];

function ranked(resources: readonly Resource[]): Resource[] {
  const byRank = groupBy(resources, (resource) => rankOf(resource as Wanted));
  return ranks.flatMap((rank) => inOrder(byRank.get(rank) ?? []));
}

/** Chains behind those that they lead to: drops, policies, tiers, groups, and what hangs on hooks. */
function inOrder(resources: Resource[]): Resource[] {
  if (resources[0]?.kind !== 'nft-chain') return resources;
  return resources.sort((a, b) => depthOf(a) - depthOf(b));
}

const depths = ['drop-', 'policy-', 'tier-', 'group-'] as const;

function depthOf(resource: Resource): number {
  const wanted = resource as Wanted;
  if (wanted.kind !== 'nft-chain') return 0;
  const depth = depths.findIndex((beginning) => wanted.chain.name.startsWith(beginning));
  return depth === -1 ? depths.length : depth;
}
