/** The node's own part: what it is, what its networks need before the first pod, and what is applied of it. */
import type { CallOptions, Engine, Owned, Resource } from '@podwire/engine';
import type { NodeView } from '@podwire/network-contract';
import { planNodeTraffic } from '@podwire/network-traffic';
import type { Network } from '../networks.js';
import { discoverMtu, type HostView } from './host-view.js';

export interface NodeState {
  /** Looks at the host again. Pods that are wired keep the MTU they have. */
  rediscover(): void;
  view(network: Network): NodeView;
  /** Everything the node must have now, for the whole of its networks and blocks. */
  owned(): Owned;
  /**
   * Applies what `owned` has beyond what was applied before: after a new block was claimed, its blackhole route.
   * Costs nothing when no block was.
   */
  ensure(engine: Engine, options: CallOptions): Promise<void>;
  /** A reconcile has applied this list, and no block was claimed since it was made. */
  markApplied(owned: Owned): void;
}

export interface NodeOptions {
  readonly name: string;
  readonly networks: readonly Network[];
  readonly readHost: () => HostView;
}

export function createNodeState({ name, networks, readHost }: NodeOptions): NodeState {
  let host = readHost();
  /** Resources as text, since they are compared by value. */
  let applied = new Set<string>();
  let appliedBlocks = -1;
  let working: Promise<void> | undefined;

  const countBlocks = (): number => networks.reduce((sum, { ipam }) => sum + ipam.blocks().length, 0);

  const view = (network: Network): NodeView => ({
    name,
    network: network.view,
    blocks: network.ipam.blocks(),
    mtu: network.mtu ?? discoverMtu(host),
    ipv4: true,
    ipv6: host.ipv6,
  });

  const owned = (): Owned => ({
    owner: 'node',
    resources: withoutDoubles([
      ...networks.flatMap((network) => network.model.planNode(view(network))),
      ...planNodeTraffic(networks.map(view)),
    ]),
  });

  const markApplied = ({ resources }: Owned, blocks: number): void => {
    applied = new Set(resources.map((resource) => JSON.stringify(resource)));
    appliedBlocks = blocks;
  };

  async function applyMissing(engine: Engine, options: CallOptions): Promise<void> {
    const blocks = countBlocks();
    const wanted = owned();
    const missing = wanted.resources.filter((resource) => !applied.has(JSON.stringify(resource)));
    if (missing.length > 0) await engine.apply({ owner: 'node', resources: missing }, options);
    markApplied(wanted, blocks);
  }

  return {
    rediscover: () => void (host = readHost()),
    view,
    owned,
    markApplied: (list) => markApplied(list, countBlocks()),
    async ensure(engine, options) {
      // One after the other: if one fails, its way back must not take what another has found in place.
      while (working !== undefined) await working.catch(() => undefined);
      if (countBlocks() === appliedBlocks) return;
      working = applyMissing(engine, options).finally(() => (working = undefined));
      await working;
    },
  };
}

/** Two networks of one model need the same parameters and tables of the node. */
function withoutDoubles(resources: readonly Resource[]): Resource[] {
  return [...new Map(resources.map((resource) => [JSON.stringify(resource), resource])).values()];
}
