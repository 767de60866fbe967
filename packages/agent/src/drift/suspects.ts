/** Whose a disturbance is: what has to be looked at because of events of the kernel. */
import { type Disturbance, isLinkAsWanted } from '@podwire/backend-linux';
import type { Resource } from '@podwire/engine';
import { endpointKey } from '@podwire/network-contract';
import type { EndpointContext } from '../endpoints/context.js';
import type { AgentRecord } from '../endpoints/registry.js';

/** Everything; the node's own part; or an endpoint, by its key. */
export type Suspect = 'all' | 'node' | { readonly endpoint: string };

/** Finds owners for the disturbances of one look. What it has to make a list for is listed once. */
export class SuspectFinder {
  readonly #context: EndpointContext;
  #ofHost: readonly Resource[] | undefined;
  #byAddress: ReadonlyMap<string, AgentRecord> | undefined;

  constructor(context: EndpointContext) {
    this.#context = context;
  }

  /** Undefined where nothing of Podwire's can have suffered. */
  find(disturbance: Disturbance): Suspect | undefined {
    switch (disturbance.sort) {
      case 'lost':
      case 'table':
        return 'all';
      case 'forwarding':
      case 'shared-chain':
        return 'node';
      case 'link':
        return this.#ofLink(disturbance);
      case 'on-link':
        return this.#whoseLink(disturbance.link);
      case 'in-pod':
        return suspectOf(this.#context.endpoints.ofLink(disturbance.link));
      case 'route':
        return this.#ofRoute(disturbance);
    }
  }

  #ofLink({ link, now }: Extract<Disturbance, { sort: 'link' }>): Suspect | undefined {
    const record = this.#context.endpoints.ofLink(link);
    const resources = record?.resources ?? this.#resourcesOfHost();
    if (now !== undefined && isLinkAsWanted(resources, now)) return undefined;
    return this.#whoseLink(link);
  }

  #whoseLink(link: string): Suspect | undefined {
    const record = this.#context.endpoints.ofLink(link);
    if (record !== undefined) return suspectOf(record);
    // Peers have something on it as well.
    return this.#resourcesOfHost().some((resource) => isLinkOfHost(resource, link)) ? 'all' : undefined;
  }

  #ofRoute({ destination, link }: Extract<Disturbance, { sort: 'route' }>): Suspect | undefined {
    const record = link === undefined ? undefined : this.#context.endpoints.ofLink(link);
    const own = record ?? this.#recordOf(destination);
    if (own !== undefined) return suspectOf(own);
    return this.#resourcesOfHost().some((one) => one.kind === 'route' && one.destination === destination)
      ? 'all'
      : undefined;
  }

  /** A pod's route on the node leads to its address alone. */
  #recordOf(destination: string): AgentRecord | undefined {
    this.#byAddress ??= new Map(
      this.#context.endpoints
        .all()
        .flatMap((record) =>
          record.resources.flatMap((one) =>
            one.kind === 'route' && one.in === 'host' ? [[one.destination, record] as const] : [],
          ),
        ),
    );
    return this.#byAddress.get(destination);
  }

  #resourcesOfHost(): readonly Resource[] {
    const { node, cluster } = this.#context;
    this.#ofHost ??= [node.owned(), ...(cluster?.peers.owned() ?? [])].flatMap(({ resources }) => resources);
    return this.#ofHost;
  }
}

/** One that is being made or removed is the business of the request that does it. */
const suspectOf = (record: AgentRecord | undefined): Suspect | undefined =>
  record?.phase === 'ready' ? { endpoint: endpointKey(record.id) } : undefined;

const isLinkOfHost = (resource: Resource, link: string): boolean =>
  (resource.kind === 'vxlan' || resource.kind === 'ifb') && resource.name === link;
