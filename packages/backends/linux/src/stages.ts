/**
 * The order in which a pod comes to life. Each stage is one call to the kernel, and each needs the one before: links
 * exist before parameters can be set on them, parameters (IPv6 switched on) stand before addresses come, the pod is
 * complete before the node's routes lead to it, and the outside world gets its ports last. Pure, for models.
 */
import type { LinuxResources } from './resources.js';

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
/** Of a resource in the pod, and of one on the host. */
type BySide = Readonly<Record<'pod' | 'host', Stage>>;

const entries: BySide = {
  pod: 'pod links, addresses and routes',
  host: 'host links, addresses, routes and queues',
};

/** By kind: the compiler finds one that has none. */
const stageOfKind: { readonly [K in keyof LinuxResources]: StageOf<LinuxResources[K]> } = {
  veth: 'links',
  ifb: 'links',
  vxlan: 'links',
  'link-up': entries,
  // The host's end in the call that brings it up, the pod's when both are up.
  'link-ready': { ...entries, pod: 'readiness' },
  'link-local-mode': entries,
  address: entries,
  route: entries,
  rule: entries,
  neighbour: entries,
  'forwarding-entry': entries,
  'token-bucket': entries,
  'ingress-redirect': entries,
  sysctl: { pod: 'pod parameters', host: 'host parameters' },
  'nft-table': 'ruleset',
  'forward-accept': 'ruleset',
  'nft-element': 'elements',
  'nft-own-table': 'ruleset',
  'nft-set': 'ruleset',
  'nft-chain': 'ruleset',
  'conntrack-reset': 'connection tracking',
};

type StageOf<R> = R extends { readonly in: 'pod' | 'host' } ? BySide : Stage;

type LinuxResource = LinuxResources[keyof LinuxResources];

function rankOf(resource: LinuxResource): number {
  const stage = stageOfKind[resource.kind] as Stage | BySide | undefined;
  if (stage === undefined) throw new RangeError(`resources of kind ${resource.kind} have no stage`);
  return stages.indexOf(
    typeof stage === 'string' || !('in' in resource) ? (stage as Stage) : stage[resource.in],
  );
}

/**
 * Sorts by stage and keeps the order within each, so that pieces planned apart travel in as few calls as possible.
 * @throws RangeError for a kind that has no stage here
 */
export function inApplyOrder<R extends { readonly kind: string }>(resources: readonly R[]): R[] {
  const rank = (resource: R): number => rankOf(resource as unknown as LinuxResource);
  return [...resources].sort((a, b) => rank(a) - rank(b));
}
