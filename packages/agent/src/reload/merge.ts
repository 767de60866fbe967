/**
 * Fields of a new configuration that a running agent takes over. docs/decisions/0037 says why these fields and not
 * others: pods that run must notice nothing, and nothing that others know by path or name may move.
 */
import type { AgentConfig, NetworkConfig, PoolConfig } from '../config/schema.js';

/** How many pods have an address of a pool. */
export type CountPods = (network: string, pool: string) => number;

/** The fields that `mergeConfig` takes; for documents and help. */
export const liveFields: readonly string[] = [
  'log.level',
  'reconcileInterval',
  'deadlines.reconcile',
  'deadlines.stop',
  'limits.traces',
  'metrics.listen',
  'networks[].mtu',
  'networks[].natOutgoing',
  'networks[].pools',
];

/** The running configuration with every field of `wanted` that can be changed now; the other fields stay. */
export function mergeConfig(running: AgentConfig, wanted: AgentConfig, countPods: CountPods): AgentConfig {
  const { reconcile, stop } = wanted.deadlines;
  return {
    ...running,
    log: wanted.log,
    reconcileInterval: wanted.reconcileInterval,
    deadlines: { ...running.deadlines, reconcile, stop },
    limits: { ...running.limits, traces: wanted.limits.traces },
    metrics: wanted.metrics,
    networks: running.networks.map((network) => {
      const next = wanted.networks.find(
        ({ name, model }) => name === network.name && model === network.model,
      );
      return next === undefined ? network : mergeNetwork(network, next, running, countPods);
    }),
  };
}

function mergeNetwork(
  network: NetworkConfig,
  wanted: NetworkConfig,
  { cluster }: AgentConfig,
  countPods: CountPods,
): NetworkConfig {
  const { mtu: _, ...rest } = network;
  const withMtu = { ...rest, ...(wanted.mtu === undefined ? {} : { mtu: wanted.mtu }) };
  // The pools of a cluster are in the store, which every node follows anyway.
  if (cluster !== undefined) return withMtu;
  const inUse = (pool: PoolConfig): boolean => countPods(network.name, pool.name) > 0;
  return {
    ...withMtu,
    natOutgoing: wanted.natOutgoing,
    pools: mergePools(network.pools, wanted.pools, inUse),
  };
}

/** A pool that goes while pods have addresses of it would take their masquerade with it, so it stays. */
function mergePools(
  running: readonly PoolConfig[],
  wanted: readonly PoolConfig[],
  inUse: (pool: PoolConfig) => boolean,
): PoolConfig[] {
  const known = new Map(running.map((pool) => [pool.name, pool]));
  const names = new Set(wanted.map(({ name }) => name));
  const kept = running.filter((pool) => !names.has(pool.name) && inUse(pool));
  return [...wanted.map((pool) => mergePool(known.get(pool.name), pool)), ...kept];
}

/** Where its addresses are and how they are cut into blocks is what pods and routes were made from. */
function mergePool(running: PoolConfig | undefined, wanted: PoolConfig): PoolConfig {
  if (running === undefined) return wanted;
  const { cidr, blockSize, allocation } = running;
  return { ...wanted, cidr, blockSize, allocation };
}
