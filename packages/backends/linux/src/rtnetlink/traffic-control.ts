import {
  addFilterRequest,
  addQdiscRequest,
  deleteQdiscRequest,
  type FilterAction,
  INGRESS_FILTERS,
  type MirredAction,
  type NetlinkRequest,
  replaceQdiscRequest,
  sameTokenBucket,
  TC_INGRESS,
  TC_ROOT,
} from '@podwire/netlink';
import * as is from '../checks.js';
import { linkKey } from '../keys.js';
import { defineEntry, type LinkNumbers, missing } from './kind.js';
import type { IngressRedirect, TokenBucket } from './resources.js';

export const tokenBucket = defineEntry<TokenBucket>()({
  kind: 'token-bucket',
  check: is.resource<TokenBucket>({
    ...{ in: is.side, link: is.link, rate: is.count, burst: is.count, limit: is.count },
  }),
  identify: ({ link }) => link,
  words: ({ link, rate, burst }) => `token bucket on ${link}: ${rate} bit/s, burst ${burst} bytes`,
  inPlace: true,
  create: (resource, links) => [addQdiscRequest(encodeBucket(resource, links))],
  replace: (resource, links) => [replaceQdiscRequest(encodeBucket(resource, links))],
  delete: (resource, links) => [
    deleteQdiscRequest({ link: links.indexOf(resource.in, resource.link), parent: TC_ROOT }),
  ],
  observe(resource, view) {
    const side = view.side(resource.in);
    const link = side.link(resource.link);
    return { link, root: link && side.rootQdisc(link) };
  },
  compare(resource, { link, root }) {
    if (link === undefined) return missing(resource.link);
    // The kernel's default gives way to whatever is added; everything else must be replaced.
    if (root === undefined || root.handle === 0) return { missing: `${resource.link} has no token bucket` };
    const found = root.settings;
    if (found?.kind !== 'tbf') return `${resource.link} has a qdisc ${root.kind} instead of a token bucket`;
    if (sameTokenBucket(shape(resource), found)) return undefined;
    return `${resource.link}: rate ${found.rate} bit/s, burst ${found.burst} and limit ${found.limit} bytes`;
  },
});

const shape = ({ rate, burst, limit }: TokenBucket) => ({ kind: 'tbf' as const, rate, burst, limit });

const encodeBucket = (resource: TokenBucket, links: LinkNumbers) => ({
  ...shape(resource),
  link: links.indexOf(resource.in, resource.link),
  parent: TC_ROOT,
});

const REDIRECT_PRIORITY = 1;

function encodeRedirect(resource: IngressRedirect, links: LinkNumbers): NetlinkRequest[] {
  const link = links.indexOf(resource.in, resource.link);
  const target = links.indexOf(resource.in, resource.target);
  const action = { kind: 'mirred', direction: 'egress', target } as const;
  return [
    addQdiscRequest({ kind: 'ingress', link }),
    addFilterRequest({ link, parent: INGRESS_FILTERS, priority: REDIRECT_PRIORITY, action }),
  ];
}

function deleteRedirect(resource: IngressRedirect, links: LinkNumbers): NetlinkRequest {
  return deleteQdiscRequest({ link: links.indexOf(resource.in, resource.link), parent: TC_INGRESS });
}

export const ingressRedirect = defineEntry<IngressRedirect>()({
  kind: 'ingress-redirect',
  check: is.resource<IngressRedirect>({ in: is.side, link: is.link, target: is.link }),
  identify: ({ link }) => link,
  words: ({ link, target }) => `redirect of what arrives on ${link} to ${target}`,
  after: ({ in: place, link, target }) => [linkKey(place, link), linkKey(place, target)],
  inPlace: false,
  create: encodeRedirect,
  // A qdisc takes its filters with it.
  replace: (resource, links) => [deleteRedirect(resource, links), ...encodeRedirect(resource, links)],
  delete: (resource, links) => [deleteRedirect(resource, links)],
  observe(resource, view) {
    const side = view.side(resource.in);
    const link = side.link(resource.link);
    return { link, target: side.link(resource.target), filters: link && side.ingressFilters(link) };
  },
  compare(resource, { link, target, filters: found = [] }) {
    if (link === undefined) return missing(resource.link);
    const filters = found.map(({ settings }) => settings);
    if (filters.length === 0) return { missing: `${resource.link} redirects nothing` };
    // The first one decides. One to a link that was deleted (also if a link of that name is there again) drops all.
    const first = filters.find((filter) => filter?.keys.length === 0 && filter.actions.some(redirects));
    const isSent = target !== undefined && first?.actions.find(redirects)?.target === target.index;
    return isSent ? undefined : `${resource.link} does not send everything to ${resource.target}`;
  },
});

const redirects = (action: FilterAction): action is MirredAction =>
  'target' in action && action.mirror !== true;
