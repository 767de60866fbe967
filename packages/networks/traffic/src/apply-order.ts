import type { Resource } from '@podwire/engine';

/**
 * The order in which a pod comes to life. Each stage is one call to the kernel, and each needs the one before:
 * links exist before parameters can be set on them, parameters (IPv6 switched on) stand before addresses come, the pod is
 * complete before the node's routes lead to it, and the outside world gets its ports last.
 */
const stages = [
  'links',
  'pod parameters',
  'pod links, addresses and routes',
  'host parameters',
  'host links, addresses, routes and queues',
  'readiness',
  'ruleset',
  'elements',
  'connection tracking',
] as const;

type Stage = (typeof stages)[number];

function stageOf(resource: Resource): Stage {
  switch (resource.kind) {
    case 'veth':
    case 'ifb':
    case 'vxlan':
      return 'links';
    case 'sysctl':
      return resource.in === 'pod' ? 'pod parameters' : 'host parameters';
    case 'link-ready':
      // The host's end in the call that brings it up, the pod's when both are up.
      return resource.in === 'pod' ? 'readiness' : 'host links, addresses, routes and queues';
    case 'nft-table':
    case 'forward-accept':
      return 'ruleset';
    case 'nft-element':
      return 'elements';
    case 'conntrack-reset':
      return 'connection tracking';
    default:
      return resource.in === 'pod'
        ? 'pod links, addresses and routes'
        : 'host links, addresses, routes and queues';
  }
}

/** Sorts by stage and keeps the order within each, so that pieces planned apart travel in as few calls as possible. */
export function inApplyOrder(resources: readonly Resource[]): Resource[] {
  const rank = (resource: Resource): number => stages.indexOf(stageOf(resource));
  return [...resources].sort((a, b) => rank(a) - rank(b));
}
