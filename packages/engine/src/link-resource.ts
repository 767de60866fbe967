import type { LinkResource, Resource } from './resource.js';

export const isLink = (resource: Resource): resource is LinkResource =>
  resource.kind === 'veth' || resource.kind === 'ifb' || resource.kind === 'vxlan';

/** The name that the link has on the node. */
export const hostEndOf = (link: LinkResource): string => (link.kind === 'veth' ? link.host.name : link.name);
