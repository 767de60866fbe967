import type { StaticRoute } from '@podwire/backend-ovsdb/northbound/resources';
import type { Resource } from '@podwire/engine';
import type { Read } from '@podwire/planner';
import type { VpcRoute } from '../contract.js';
import { JOIN_SUBNET } from './names.js';
import { anywhere, vendor } from './rows.js';

/** The router of a VPC and its routes. */
export function planVpc(vpc: string, read: Read): Resource[] | undefined {
  const found = read(`ovn-vpc/${vpc}`);
  if (found === undefined) return undefined;
  const router: Resource = { kind: 'logical-router', name: vpc, externalIds: vendor };
  const routes = found.isDefault
    ? planDefaultRoutes(vpc, read)
    : found.staticRoutes.map((route) => planRoute(vpc, route));
  return [router, ...routes];
}

/** A router drops what it has no route for before it looks at its policies, which say through which node a pod leaves. */
function planDefaultRoutes(router: string, read: Read): StaticRoute[] {
  const { ranges = [] } = read(`ovn-subnet/${JOIN_SUBNET}`) ?? {};
  return ranges.map(({ gateway }) => {
    const prefix = anywhere(gateway);
    return { kind: 'static-route', name: `${router} ${prefix}`, router, prefix, nextHop: gateway };
  });
}

const planRoute = (router: string, { policy, cidr: prefix, nextHopIP: nextHop }: VpcRoute): StaticRoute => ({
  ...{ kind: 'static-route', name: `${router} ${policy} ${prefix} ${nextHop}`, router, prefix, nextHop },
  policy: policy === 'policySrc' ? 'src-ip' : 'dst-ip',
});
