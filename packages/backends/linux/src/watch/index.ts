/** Hears from the kernel what others change: on the node, in its packet filter, and in pods. */
import fs from 'node:fs';
import type { ChangeFeed, Changes, Hint } from '@podwire/engine';
import { hasCode } from '@podwire/linux';
import {
  decodeInetSettings,
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
import { readFilterEvents } from './filter-events.js';
import { readNodeEvents } from './node-events.js';
import type { LinkNow } from './parameter-events.js';
import { readPodEvents } from './pod-events.js';
import { RTM } from './rtm.js';

/** Events in one call. */
const AT_ONCE = 1024;
/** Events that are evaluated together, where so many have come: some milliseconds' worth. */
const TOGETHER = 4 * AT_ONCE;
/** Links that are remembered as out of service. */
const MANY = 8_192;

/** Anything may have happened, and leftovers may be on the node. */
const lostOnNode: Hint = { keys: [], lost: true, marked: true };
const lostInPods: Hint = { keys: [], lost: true };

/** Links, and what the kernel keeps in tables beside them. */
export function watchNode(kernel: Kernel): ChangeFeed {
  return {
    place: 'host',
    open: () => {
      const events = openNetlinkEvents({ ...routeEvents, namespace: kernel.host });
      return follow(events, lostOnNode, (found) => readNode(kernel, found));
    },
  };
}

/**
 * The same in pods, by a socket of its own: a pod in which much happens fills only this one. They are heard without a
 * descriptor for each, where this process may: `open` throws EPERM without CAP_NET_BROADCAST.
 */
export function watchPods(kernel: Kernel): ChangeFeed {
  return {
    place: 'pod',
    open: () => {
      const events = openNetlinkEvents({ ...routeEvents, namespace: kernel.host, allNamespaces: true });
      const pods = new Pods(kernel);
      return follow(events, lostInPods, (found) => pods.read(found));
    },
  };
}

export function watchFilter({ host, nftables }: Kernel): ChangeFeed {
  return {
    place: 'host',
    open: () => {
      const options = { protocol: NETLINK_NETFILTER, groups: [NFTABLES_GROUP], namespace: host };
      return follow(openNetlinkEvents(options), lostOnNode, (found) =>
        readFilterEvents(found, (port) => nftables.isOwnPort(port)),
      );
    },
  };
}

const routeEvents = { protocol: NETLINK_ROUTE, groups: Object.values(routeGroups) };

function follow(
  source: NetlinkEvents,
  lost: Hint,
  toHints: (events: readonly NetlinkEvent[]) => readonly Hint[],
): Changes {
  let events: NetlinkEvent[] = [];
  return {
    read() {
      const found = source.read(AT_ONCE);
      const more = found.events.length >= AT_ONCE;
      events.push(...found.events);
      // Things come in steps, of which the last counts: it may be among those that come next.
      const isEnough = !more || events.length >= TOGETHER;
      const hints = isEnough && events.length > 0 ? toHints(events) : [];
      if (isEnough) events = [];
      return { hints: found.lost ? [lost, ...hints] : hints, more };
    },
    close: () => source.close(),
  };
}

/** The first socket of a process in a namespace has the number of the process; those of pods live for one call each. */
function ownPorts({ host, background }: Kernel): (port: number) => boolean {
  const own = new Set([process.pid, host.route.portId(), background.portId()]);
  own.delete(0);
  return (port) => own.has(port);
}

function readNode(kernel: Kernel, events: readonly NetlinkEvent[]): Hint[] {
  const links = new Map<number, LinkNow | undefined>();
  return readNodeEvents(events, {
    isOwnPort: ownPorts(kernel),
    culpritOf: describeCulprit,
    linkOf(index) {
      if (!links.has(index)) links.set(index, readLink(kernel, index));
      return links.get(index);
    },
  });
}

function readLink({ host }: Kernel, reference: number | string): LinkNow | undefined {
  try {
    const [[answer] = []] = host.route.request([getLinkRequest(reference)]);
    if (answer === undefined) return undefined;
    const link = decodeLink(answer);
    return isMarkedForDeletion(link) ? undefined : { link, settings: () => decodeInetSettings(answer) };
  } catch (error) {
    if (hasCode(error, 'ENODEV')) return undefined;
    throw error;
  }
}

/** Namespaces behind links of ours. */
class Pods {
  readonly #kernel: Kernel;
  /** Names of our links by the id of the namespace that they lead into. Ids are used again. */
  #links = new Map<number, readonly string[]>();
  readonly #outOfService = new Set<string>();
  /** A link of the node has changed since: it may lead into a namespace that led nowhere before. */
  #isOutdated = true;

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  read(events: readonly NetlinkEvent[]): Hint[] {
    this.#isOutdated ||= events.some(
      ({ type, namespace }) => type === RTM.newLink && namespace === undefined,
    );
    if (this.#outOfService.size > MANY) this.#outOfService.clear();
    return readPodEvents(events, {
      isOwnPort: ownPorts(this.#kernel),
      outOfService: this.#outOfService,
      linksInto: (namespace) => this.#linksInto(namespace),
    });
  }

  #linksInto(namespace: number): readonly string[] {
    const known = this.#links.get(namespace);
    const isTrue = known?.every((name) => readLink(this.#kernel, name)?.link.parentNamespace === namespace);
    if (isTrue === true) return known!;
    if (!this.#isOutdated) return [];
    this.#isOutdated = false;
    this.#links = this.#listLinks();
    return this.#links.get(namespace) ?? [];
  }

  #listLinks(): Map<number, string[]> {
    const found = new Map<number, string[]>();
    for (const { parentNamespace, name } of listLinks(this.#kernel.host.route, {
      kind: 'veth',
      group: LIVE_GROUP,
    })) {
      if (parentNamespace === undefined) continue;
      const names = found.get(parentNamespace);
      if (names === undefined) found.set(parentNamespace, [name]);
      else names.push(name);
    }
    return found;
  }
}

/** A daemon still runs when the event is read; a program like `ip` has ended. */
function describeCulprit(port: number): string | undefined {
  if (port === 0) return undefined;
  try {
    return `${fs.readFileSync(`/proc/${port}/comm`, 'utf8').trim()} (process ${port})`;
  } catch {
    return `port ${port}`;
  }
}
