import type { Resource } from '../resource.js';
import { elementKey } from '../observe.js';

/** A resource in a few words, for messages, traces and tables: `route 10.244.0.5/32 dev cali0123`. */
export function describeResource(resource: Resource): string {
  const where = 'in' in resource && resource.in === 'pod' ? ' in pod' : '';
  return `${describe(resource)}${where}`;
}

function describe(resource: Resource): string {
  switch (resource.kind) {
    case 'veth':
      return `veth ${resource.host.name} to ${resource.pod.name} in pod, MTU ${resource.mtu}`;
    case 'ifb':
      return `ifb ${resource.name}`;
    case 'vxlan':
      return `vxlan ${resource.name}, id ${resource.id}, from ${resource.local} port ${resource.port}, MTU ${resource.mtu}`;
    case 'link-up':
      return `link ${resource.link} up`;
    case 'link-ready':
      return `link ${resource.link} ready`;
    case 'link-local-mode':
      return `link-local address of ${resource.link}: ${resource.mode}`;
    case 'address':
      return `address ${resource.address} on ${resource.link}`;
    case 'route':
      return describeRoute(resource);
    case 'rule':
      return `rule from ${resource.from} to table ${resource.table}`;
    case 'neighbour':
      return `neighbour ${resource.address} at ${resource.mac} on ${resource.link}`;
    case 'forwarding-entry':
      return `forwarding entry ${resource.mac} to ${resource.remote} on ${resource.link}`;
    case 'sysctl':
      return `sysctl ${resource.key}=${resource.value}`;
    case 'token-bucket':
      return `token bucket on ${resource.link}: ${resource.rate} bit/s, burst ${resource.burst} bytes`;
    case 'ingress-redirect':
      return `redirect of what arrives on ${resource.link} to ${resource.target}`;
    case 'nft-table':
      return `nftables table ${resource.family} ${resource.name}`;
    case 'forward-accept':
      return `accept of ${resource.links.join(' ')} in ${resource.family} filter FORWARD`;
    case 'nft-element':
      return `element ${elementKey(resource)} of set ${resource.set}${describeValue(resource)}`;
    case 'conntrack-reset':
      return `no connections to ${resource.address ?? `any IPv${resource.family}`} ${resource.protocol} ${resource.port ?? 'any'} tracked`;
  }
}

function describeRoute(route: Resource & { kind: 'route' }): string {
  const type = route.type === undefined || route.type === 'unicast' ? '' : `${route.type} `;
  const via = route.gateway === undefined ? '' : ` via ${route.gateway}`;
  const link = route.link === undefined ? '' : ` dev ${route.link}`;
  return `route ${type}${route.destination}${via}${link}`;
}

function describeValue({ value }: Resource & { kind: 'nft-element' }): string {
  return value === undefined ? '' : ` = ${value.map((part) => part.value).join(' . ')}`;
}
