import {
  addFilter,
  addQdisc,
  deleteQdisc,
  type FilterAction,
  INGRESS_FILTERS,
  type MirredAction,
  type NetlinkRequest,
  replaceQdisc,
  sameTokenBucket,
  TC_INGRESS,
  TC_ROOT,
} from '@podwire/netlink';
import type { IngressRedirect, TokenBucket } from '../resource.js';
import type { Session } from '../session.js';
import { missing } from './links.js';
import type { Provider } from './provider.js';

export const tokenBucket: Provider<TokenBucket> = {
  create: (resource, session) => [
    addQdisc({ ...shape(resource), link: session.indexOf(resource.in, resource.link), parent: TC_ROOT }),
  ],
  replace: (resource, session) => [
    replaceQdisc({ ...shape(resource), link: session.indexOf(resource.in, resource.link), parent: TC_ROOT }),
  ],
  remove: (resource, session) => [
    deleteQdisc({ link: session.indexOf(resource.in, resource.link), parent: TC_ROOT }),
  ],
  compare: (resource, view) => {
    const side = view.side(resource.in);
    const link = side.link(resource.link);
    if (link === undefined) return missing(resource.link);
    const root = side.rootQdisc(link);
    // The kernel's default gives way to whatever is added; everything else must be replaced.
    if (root === undefined || root.handle === 0) return { missing: `${resource.link} has no token bucket` };
    const found = root.settings;
    if (found?.kind !== 'tbf') return `${resource.link} has a qdisc ${root.kind} instead of a token bucket`;
    if (sameTokenBucket(shape(resource), found)) return undefined;
    return `${resource.link}: rate ${found.rate} bit/s, burst ${found.burst} and limit ${found.limit} bytes`;
  },
};

const shape = ({ rate, burst, limit }: TokenBucket) => ({ kind: 'tbf' as const, rate, burst, limit });

const REDIRECT_PRIORITY = 1;

function encodeRedirect(resource: IngressRedirect, session: Session): NetlinkRequest[] {
  const link = session.indexOf(resource.in, resource.link);
  const target = session.indexOf(resource.in, resource.target);
  const action = { kind: 'mirred', direction: 'egress', target } as const;
  return [
    addQdisc({ kind: 'ingress', link }),
    addFilter({ link, parent: INGRESS_FILTERS, priority: REDIRECT_PRIORITY, action }),
  ];
}

function removeRedirect(resource: IngressRedirect, session: Session): NetlinkRequest {
  return deleteQdisc({ link: session.indexOf(resource.in, resource.link), parent: TC_INGRESS });
}

export const ingressRedirect: Provider<IngressRedirect> = {
  create: encodeRedirect,
  // A qdisc takes its filters with it.
  replace: (resource, session) => [removeRedirect(resource, session), ...encodeRedirect(resource, session)],
  remove: (resource, session) => [removeRedirect(resource, session)],
  compare: (resource, view) => {
    const side = view.side(resource.in);
    const [link, target] = [side.link(resource.link), side.link(resource.target)];
    if (link === undefined) return missing(resource.link);
    const filters = side.ingressFilters(link).map(({ settings }) => settings);
    if (filters.length === 0) return { missing: `${resource.link} redirects nothing` };
    // The first one decides. One to a link that was deleted (also if a link of that name is there again) drops everything.
    const first = filters.find((filter) => filter?.keys.length === 0 && filter.actions.some(redirects));
    const found = target !== undefined && first?.actions.find(redirects)?.target === target.index;
    return found ? undefined : `${resource.link} does not send everything to ${resource.target}`;
  },
};

const redirects = (action: FilterAction): action is MirredAction =>
  'target' in action && action.mirror !== true;
