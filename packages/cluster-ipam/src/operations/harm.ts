/** Which running pods a change would disturb. */
import type { Pool, Workload } from '@podwire/cluster-state';
import type { ClusterSnapshot } from './snapshot.js';
import { isNodesOwn } from './text.js';

/** Pods that a node has reported and not taken back: of a node that is unreachable they may still run. */
export function podsOfNode(
  { allocationRecords }: Pick<ClusterSnapshot, 'allocationRecords'>,
  node: string,
): string[] {
  const entries = allocationRecords.flatMap(({ value }) => (value.node === node ? value.entries : []));
  const names = entries.filter((entry) => !isNodesOwn(entry)).map(({ pod, owner }) => pod ?? owner);
  return [...new Set(names)].sort();
}

/** Users of an address of the workload that are none of its pods: `10.244.0.5: default/web on node n1`. */
export function otherUsers(
  { allocationRecords }: Pick<ClusterSnapshot, 'allocationRecords'>,
  workload: Pick<Workload, 'namespace' | 'name' | 'addresses'>,
): string[] {
  const wanted = new Set(workload.addresses);
  return allocationRecords
    .flatMap(({ value: { node, entries } }) => entries.map((entry) => ({ ...entry, node })))
    .filter(({ address, pod }) => wanted.has(address) && !(pod !== undefined && isPodOf(workload, pod)))
    .map(({ address, pod, owner, node }) => `${address}: ${pod ?? owner} on node ${node}`);
}

/** @param pod `NAMESPACE/NAME` */
function isPodOf({ namespace, name }: Pick<Workload, 'namespace' | 'name'>, pod: string): boolean {
  const own = `${namespace}/${name}`;
  return own.endsWith('*') ? pod.startsWith(own.slice(0, -1)) : pod === own;
}

/** The encapsulation that all other pools of the network have; undefined when they differ, or there are none. */
export function commonEncapsulation(
  pools: readonly Pool[],
  { name, network }: Pick<Pool, 'name' | 'network'>,
): Pool['encapsulation'] | undefined {
  const [first, ...more] = new Set(othersOf(pools, { name, network }).map((pool) => pool.encapsulation));
  return more.length === 0 ? first : undefined;
}

/** Advice for pools of a network that differ; undefined when they do not. */
export function describeMixture(pools: readonly Pool[], pool: Pool): string | undefined {
  const others = othersOf(pools, pool).filter((other) => other.encapsulation !== pool.encapsulation);
  if (others.length === 0) return undefined;
  const list = others.map(({ name, encapsulation }) => `${name} ${encapsulation}`).join(', ');
  return `pools of network ${pool.network} differ in their encapsulation: ${pool.name} ${pool.encapsulation}, ${list}`;
}

const othersOf = (pools: readonly Pool[], { name, network }: Pick<Pool, 'name' | 'network'>): Pool[] =>
  pools.filter((pool) => pool.network === network && pool.name !== name);
