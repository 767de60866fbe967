/**
 * One provider for each kind of resource: how it is made and removed in rtnetlink's terms, and how it is compared with
 * what the kernel has. To add a kind: declare it in resource.ts, give it a channel in steps.ts and a provider here.
 */
import type { NetlinkRequest } from '@podwire/netlink';
import type { View } from '../observe.js';
import type { Resource } from '../resource.js';
import type { Session } from '../session.js';
import { address, forwardingEntry, neighbour } from './addresses.js';
import { forwardAccept } from './forward-accept.js';
import { ifb, linkLocalMode, linkReady, linkUp, veth } from './links.js';
import { nftElement, nftTable } from './packet-filter.js';
import { sysctl } from './parameters.js';
import type { Difference, Provider } from './provider.js';
import { route } from './routes.js';
import { rule } from './rules.js';
import { ingressRedirect, tokenBucket } from './traffic-control.js';
import { vxlan } from './vxlan.js';

export { describeResource } from './describe.js';
export type { Difference } from './provider.js';

const providers = {
  veth,
  ifb,
  vxlan,
  'link-up': linkUp,
  'link-ready': linkReady,
  'link-local-mode': linkLocalMode,
  address,
  route,
  rule,
  neighbour,
  'forwarding-entry': forwardingEntry,
  'token-bucket': tokenBucket,
  'ingress-redirect': ingressRedirect,
  sysctl,
  'nft-table': nftTable,
  'forward-accept': forwardAccept,
  'nft-element': nftElement,
  'conntrack-reset': { compare: () => undefined },
};

/** The compiler cannot see that a resource and the provider of its kind belong together. */
function providerOf(resource: Resource): Partial<Provider<Resource>> & Pick<Provider<Resource>, 'compare'> {
  return providers[resource.kind];
}

export function encodeCreation(resource: Resource, session: Session): readonly NetlinkRequest[] {
  return providerOf(resource).create?.(resource, session) ?? [];
}

/** Makes what is there and differs agree. Kinds that the kernel can only make anew are made as at first. */
export function encodeReplacement(resource: Resource, session: Session): readonly NetlinkRequest[] {
  const provider = providerOf(resource);
  return (provider.replace ?? provider.create)?.(resource, session) ?? [];
}

export function encodeRemoval(resource: Resource, session: Session): readonly NetlinkRequest[] {
  return providerOf(resource).remove?.(resource, session) ?? [];
}

/** How a resource differs from what the kernel has; `undefined` when it does not. Reads only. */
export function compareResource(resource: Resource, view: View): Difference | undefined {
  return providerOf(resource).compare(resource, view);
}
