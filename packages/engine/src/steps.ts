import { linkSettingOf } from './link-setting.js';
import { hostEndOf, isLink } from './link-resource.js';
import type { LinkResource, Resource, Side } from './resource.js';

/**
 * The kernel interfaces that resources travel through. `link` stands apart from `route` although both are rtnetlink:
 * the others name their link by index, which exists only after the step that creates it.
 */
export type Channel = 'link' | 'route' | 'parameter' | 'ruleset' | 'elements' | 'conntrack';

/** Neighbours in a list that share a channel and a namespace: one call to the kernel. */
export interface Step {
  readonly channel: Channel;
  readonly side: Side;
  readonly resources: readonly Resource[];
}

const channels = {
  veth: 'link',
  ifb: 'link',
  vxlan: 'link',
  'link-up': 'route',
  'link-ready': 'route',
  'link-local-mode': 'route',
  address: 'route',
  route: 'route',
  rule: 'route',
  neighbour: 'route',
  'forwarding-entry': 'route',
  'token-bucket': 'route',
  'ingress-redirect': 'route',
  sysctl: 'parameter',
  'nft-table': 'ruleset',
  'forward-accept': 'ruleset',
  'nft-element': 'elements',
  'conntrack-reset': 'conntrack',
} as const satisfies Record<Resource['kind'], Channel>;

export function channelOf(resource: Resource): Channel {
  if (resource.kind === 'sysctl' && linkSettingOf(resource) !== undefined) return 'route';
  return channels[resource.kind];
}

/** The side a resource is created from; links are made from the host, also the end that is born in the pod. */
export function sideOf(resource: Resource): Side {
  return 'in' in resource ? resource.in : 'host';
}

/** Cuts a list into steps, in order. `single` gives every resource a step of its own: fault tests die in between. */
export function planSteps(resources: readonly Resource[], single = false): Step[] {
  const steps: { channel: Channel; side: Side; resources: Resource[] }[] = [];
  for (const resource of resources) {
    const channel = channelOf(resource);
    const side = sideOf(resource);
    const last = steps.at(-1);
    if (!single && last?.channel === channel && last.side === side) last.resources.push(resource);
    else steps.push({ channel, side, resources: [resource] });
  }
  return steps;
}

/** How a list goes away: what has to be taken back by name, and the links that take the rest with them. */
export interface Removal {
  /** In order of removal. */
  readonly explicit: readonly Resource[];
  readonly links: readonly LinkResource[];
}

/**
 * Plans the removal of a list. What sits on a link of the same list (addresses, routes, neighbours, qdiscs, its
 * parameters) goes with the link. Connection tracking is reset last, when nothing can make new entries any more.
 */
export function planRemoval(resources: readonly Resource[]): Removal {
  const links = resources.filter(isLink);
  const ends = new Set(links.flatMap(linkEnds));
  const rest = resources.filter((resource) => !isLink(resource) && !goesWithLink(resource, ends)).reverse();
  const resets = rest.filter((resource) => resource.kind === 'conntrack-reset');
  return { explicit: [...rest.filter((resource) => resource.kind !== 'conntrack-reset'), ...resets], links };
}

function linkEnds(link: LinkResource): string[] {
  const near = `host/${hostEndOf(link)}`;
  return link.kind === 'veth' ? [near, `pod/${link.pod.name}`] : [near];
}

function goesWithLink(resource: Resource, ends: ReadonlySet<string>): boolean {
  if (resource.kind === 'sysctl') return true; // parameters are never set back: nobody knows who else relies on them
  return 'link' in resource && resource.link !== undefined && ends.has(`${resource.in}/${resource.link}`);
}
