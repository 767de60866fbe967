/** Hears from the kernel what others change. */
import fs from 'node:fs';
import { hasCode } from '@podwire/linux';
import {
  decodeLink,
  getLinkRequest,
  listLinks,
  NETLINK_NETFILTER,
  NETLINK_ROUTE,
  type NetlinkEvent,
  type NetlinkEvents,
  NFTABLES_GROUP,
  openNetlinkEvents,
  routeGroups,
} from '@podwire/netlink';
import type { Kernel } from '../kernel.js';
import { isMarkedForDeletion, LIVE_GROUP } from '../marks.js';
import type { Culprit, Disturbance, KernelWatch } from './disturbance.js';
import { readFilterEvents } from './filter-events.js';
import { readRouteEvents } from './route-events.js';

export { type Culprit, type Disturbance, isLinkAsWanted, type KernelWatch } from './disturbance.js';

/** Events in one look: a few milliseconds' worth. */
const AT_ONCE = 2048;
/** Links that are remembered as gone. */
const MANY = 8_192;
const RTM_NEWLINK = 16;
/** Milliseconds until namespaces are looked for again, where one is no pod's. */
const LOOK_AGAIN = 5_000;

export interface WatchOptions {
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

/**
 * Listens to the node of the kernel and to the namespaces of its pods. What happens there is heard without a descriptor
 * for each, where this process may (CAP_NET_BROADCAST); otherwise only the node is. @throws SystemError
 */
export function openKernelWatch(kernel: Kernel, { now }: WatchOptions): KernelWatch {
  const route = openRouteEvents(kernel);
  try {
    const filter = openNetlinkEvents({
      ...{ protocol: NETLINK_NETFILTER, groups: [NFTABLES_GROUP] },
      namespace: kernel.host,
    });
    return new RealWatch(kernel, route, filter, now);
  } catch (error) {
    route.close();
    throw error;
  }
}

function openRouteEvents({ host }: Kernel): NetlinkEvents {
  const options = { protocol: NETLINK_ROUTE, groups: Object.values(routeGroups), namespace: host };
  try {
    return openNetlinkEvents({ ...options, allNamespaces: true });
  } catch (error) {
    if (!hasCode(error, 'EPERM')) throw error;
    return openNetlinkEvents(options);
  }
}

class RealWatch implements KernelWatch {
  readonly #kernel: Kernel;
  readonly #route: NetlinkEvents;
  readonly #filter: NetlinkEvents;
  readonly #now: () => number;
  /** Names of our links by the id of the namespace that they lead into. Ids are used again. */
  #pods = new Map<number, string>();
  #lookedAt = -Infinity;
  readonly #outOfService = new Set<string>();
  /** A link of the node has changed since: it may lead into a namespace that led nowhere before. */
  #isOutdated = true;

  constructor(kernel: Kernel, route: NetlinkEvents, filter: NetlinkEvents, now: () => number) {
    this.#kernel = kernel;
    this.#route = route;
    this.#filter = filter;
    this.#now = now;
  }

  read(): { disturbances: Disturbance[]; more: boolean } {
    const route = this.#route.read(AT_ONCE);
    const filter = this.#filter.read(AT_ONCE);
    const lost: Disturbance[] = route.lost || filter.lost ? [{ sort: 'lost', by: { port: 0 } }] : [];
    const disturbances = [
      ...lost,
      ...(route.events.length === 0 ? [] : this.#readRoute(route.events)),
      ...readFilterEvents(filter.events, (port) => this.#kernel.nftables.isOwnPort(port)),
    ];
    return { disturbances, more: route.events.length >= AT_ONCE || filter.events.length >= AT_ONCE };
  }

  #readRoute(events: readonly NetlinkEvent[]): Disturbance[] {
    const names = new Map<number, string | undefined>();
    // The first socket of a process in a namespace has the number of the process; those of pods live for one call each.
    const own = new Set([process.pid, this.#kernel.host.route.portId(), this.#kernel.background.portId()]);
    own.delete(0);
    this.#isOutdated ||= events.some(
      ({ type, namespace }) => type === RTM_NEWLINK && namespace === undefined,
    );
    if (this.#outOfService.size > MANY) this.#outOfService.clear();
    return readRouteEvents(events, {
      outOfService: this.#outOfService,
      isOwnPort: (port) => own.has(port),
      culpritOf,
      linkName: (index) => {
        if (!names.has(index)) names.set(index, this.#nameOf(index));
        return names.get(index);
      },
      linkInto: (namespace) => this.#linkInto(namespace),
    });
  }

  #nameOf(index: number): string | undefined {
    try {
      const [[answer] = []] = this.#kernel.host.route.request([getLinkRequest(index)]);
      const link = answer === undefined ? undefined : decodeLink(answer);
      return link === undefined || isMarkedForDeletion(link) ? undefined : link.name;
    } catch (error) {
      if (hasCode(error, 'ENODEV')) return undefined;
      throw error;
    }
  }

  #linkInto(namespace: number): string | undefined {
    const known = this.#pods.get(namespace);
    if (known !== undefined && this.#leadsInto(known, namespace)) return known;
    if (!this.#isOutdated && this.#now() - this.#lookedAt < LOOK_AGAIN) return undefined;
    this.#lookedAt = this.#now();
    this.#isOutdated = false;
    const links = listLinks(this.#kernel.host.route, { kind: 'veth', group: LIVE_GROUP });
    this.#pods = new Map(
      links.flatMap(({ parentNamespace: id, name }) => (id === undefined ? [] : [[id, name] as const])),
    );
    return this.#pods.get(namespace);
  }

  #leadsInto(name: string, namespace: number): boolean {
    try {
      const [[answer] = []] = this.#kernel.host.route.request([getLinkRequest(name)]);
      return answer !== undefined && decodeLink(answer).parentNamespace === namespace;
    } catch (error) {
      if (hasCode(error, 'ENODEV')) return false;
      throw error;
    }
  }

  close(): void {
    this.#route.close();
    this.#filter.close();
  }
}

/** A daemon still runs when the event is read; a program like `ip` has ended. In a pod the number means another process. */
function culpritOf({ port, namespace }: NetlinkEvent): Culprit {
  if (port === 0 || namespace !== undefined) return { port };
  try {
    return { port, name: fs.readFileSync(`/proc/${port}/comm`, 'utf8').trim() };
  } catch {
    return { port };
  }
}
