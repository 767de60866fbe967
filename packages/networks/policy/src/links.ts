/** Which link leads to which chain. */
import type { Resource } from '@podwire/engine';
import type { CompiledEndpoint, EndpointKey } from '@podwire/policy';
import type { DirectionChains } from './chains.js';
import type { LinkChange, PolicyLink, RendererOptions } from './contract.js';
import { type Direction, element, podsMap } from './names.js';
import type { WantedResources } from './wanted.js';

type Groups = Readonly<Record<Direction, string>>;

const directions = ['egress', 'ingress'] as const;

/**
 * Links of pods. One whose pod is not compiled, or has none, leads nowhere: it is closed. Chains are there for each pod that is
 * compiled, whether it has a link or not: a link that comes later is two elements.
 */
export class PodLinks {
  readonly #chains: Readonly<Record<Direction, DirectionChains>>;
  readonly #wanted: WantedResources;
  readonly #planSources: NonNullable<RendererOptions['planSources']>;
  readonly #endpoints = new Map<EndpointKey, CompiledEndpoint>();
  readonly #groups = new Map<EndpointKey, Groups>();
  readonly #links = new Map<string, PolicyLink>();
  readonly #linksOf = new Map<EndpointKey, Set<string>>();
  readonly #attached = new Map<string, readonly Resource[]>();
  readonly #staleEndpoints = new Set<EndpointKey>();
  readonly #staleLinks = new Set<string>();

  constructor(
    chains: Readonly<Record<Direction, DirectionChains>>,
    wanted: WantedResources,
    planSources: RendererOptions['planSources'] = () => [],
  ) {
    this.#chains = chains;
    this.#wanted = wanted;
    this.#planSources = planSources;
  }

  putEndpoint(key: EndpointKey, compiled: CompiledEndpoint | undefined): void {
    if (compiled === undefined) this.#endpoints.delete(key);
    else this.#endpoints.set(key, compiled);
    this.#staleEndpoints.add(key);
    for (const link of this.#linksOf.get(key) ?? []) this.#staleLinks.add(link);
  }

  putLink({ link, value }: LinkChange): void {
    const before = this.#links.get(link);
    if (before !== undefined) this.#forget(before);
    if (value !== undefined) {
      this.#links.set(link, value);
      const links = this.#linksOf.get(value.endpoint) ?? new Set();
      this.#linksOf.set(value.endpoint, links.add(link));
    }
    this.#staleLinks.add(link);
  }

  /** New resources are there before old ones are released: chains that both use stay. */
  settle(): void {
    const left: Groups[] = [];
    for (const key of this.#staleEndpoints) left.push(...this.#regroup(key));
    for (const link of this.#staleLinks) {
      const after = this.#planLink(link);
      this.#wanted.exchange(this.#attached.get(link) ?? [], after);
      if (after.length === 0) this.#attached.delete(link);
      else this.#attached.set(link, after);
    }
    for (const groups of left) for (const each of directions) this.#chains[each].release(groups[each]);
    this.#staleEndpoints.clear();
    this.#staleLinks.clear();
  }

  /** @returns what the endpoint has no use for any more */
  #regroup(key: EndpointKey): Groups[] {
    const before = this.#groups.get(key);
    const compiled = this.#endpoints.get(key);
    if (compiled?.kind !== 'pod') this.#groups.delete(key);
    else
      this.#groups.set(key, {
        egress: this.#chains.egress.acquire(compiled.egress),
        ingress: this.#chains.ingress.acquire(compiled.ingress),
      });
    return before === undefined ? [] : [before];
  }

  #planLink(link: string): Resource[] {
    const known = this.#links.get(link);
    const groups = known === undefined ? undefined : this.#groups.get(known.endpoint);
    if (known === undefined || groups === undefined) return [];
    const verdicts = directions.map((direction) =>
      element(podsMap(direction), [{ type: 'ifname', value: link }], { chain: groups[direction] }),
    );
    return [...this.#planSources(link, known.addresses), ...verdicts];
  }

  #forget({ link, endpoint }: PolicyLink): void {
    this.#links.delete(link);
    const links = this.#linksOf.get(endpoint);
    links?.delete(link);
    if (links?.size === 0) this.#linksOf.delete(endpoint);
  }
}
