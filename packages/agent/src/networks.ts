import { PodwireError } from '@podwire/errors';
import { containsAddress, containsPrefix, familyOf, formatPrefix, parsePrefix } from '@podwire/addresses';
import type { BlockSource, Clock, Ipam, IpamOptions, PoolSpec } from '@podwire/ipam';
import type { NetworkModel, NetworkView, PoolView } from '@podwire/network-contract';
import { compact } from '@podwire/platform';
import type { AgentConfig, NetworkConfig } from './config/index.js';
import { type AddressUse, withTaken } from './node/address-uses.js';

/** A configured network with its model and its addresses. */
export interface Network {
  readonly view: NetworkView;
  /** Pools of this node; in a cluster, `view` has pools that other nodes use too. */
  readonly pools: readonly PoolSpec[];
  /** The families that pods get an address of: those with a pool that is not disabled. */
  readonly families: readonly (4 | 6)[];
  /** bytes; undefined: that of the uplink. Pods that are wired keep what they have. */
  mtu: number | undefined;
  readonly model: NetworkModel;
  readonly ipam: Ipam;
  /**
   * A copy of the addresses to try things on: what happens to it has no effect.
   * @param blocks what it may hand out of in a cluster, since it must not claim any
   */
  copyIpam(blocks: readonly string[]): Ipam;
  /**
   * Other pools from now on.
   * @param pools that this node may use
   * @param views all of the network
   * @throws PodwireError CONFIG_INVALID, and nothing has changed
   */
  setPools(pools: readonly PoolSpec[], views: readonly PoolView[]): void;
  /** Sets the addresses of others in the pools: never allocated from now on. Costs nothing when they are unchanged. */
  setUses(uses: readonly AddressUse[]): void;
  /** Pools without those addresses. */
  readonly taken: readonly PoolSpec[];
}

export interface NetworkFactories {
  readonly models: ReadonlyMap<string, NetworkModel>;
  readonly createIpam: (options: IpamOptions) => Ipam;
  readonly clock: Clock;
  readonly cluster?: ClusterAddresses;
}

/** Where the addresses of a network come from in a cluster. */
export interface ClusterAddresses {
  /** Blocks of stored pools. */
  blockSource(network: string): BlockSource;
  /** Subnets of this node, for models that have such. */
  subnetsOf(network: Pick<Network, 'model' | 'view'>): readonly string[];
}

export function createNetworks(config: AgentConfig, factories: NetworkFactories): Network[] {
  return config.networks.map((network) => createNetwork(network, config.coolDown, factories));
}

function createNetwork(config: NetworkConfig, coolDown: number, factories: NetworkFactories): Network {
  const { models, createIpam, clock, cluster } = factories;
  const model = models.get(config.model);
  if (model === undefined) throw new PodwireError('INTERNAL', `there is no network model ${config.model}`);
  let view = viewNetwork(config, model);
  let pools = model.subnets === undefined ? poolSpecs(config) : view.pools.map(specSubnets);
  let uses: readonly AddressUse[] = [];
  let specs = pools;
  let families = enabledFamilies(pools);
  const source = cluster === undefined ? {} : { blockSource: chooseSource(cluster, model, () => view) };
  const ipam = createIpam({ pools, coolDown, clock, ...source });
  /** @throws PodwireError CONFIG_INVALID, and nothing has changed */
  const apply = (next: readonly PoolSpec[], by: readonly AddressUse[]): void => {
    const complete = next.map((pool) => withTaken(pool, by, ipam.blocks()));
    ipam.setPools(complete);
    [pools, uses, specs] = [next, by, complete];
  };
  const copyIpam = (blocks: readonly string[]): Ipam => {
    const owned = cluster === undefined ? {} : { blockSource: sourceOf(() => blocks) };
    const copy = createIpam({ pools: specs, coolDown, clock, ...owned });
    for (const lease of ipam.leases()) copy.adopt(lease);
    return copy;
  };
  return {
    get view() {
      return view;
    },
    get pools() {
      return pools;
    },
    get families() {
      return families;
    },
    mtu: config.mtu,
    model,
    ipam,
    copyIpam,
    setPools(next, views) {
      checkEncapsulations(model, views);
      apply(next, uses);
      families = enabledFamilies(next);
      view = { ...view, pools: views };
    },
    setUses: (next) => apply(pools, next),
    get taken() {
      return specs.filter(({ taken = [] }) => taken.length > 0);
    },
  };
}

const chooseSource = (
  cluster: ClusterAddresses,
  model: NetworkModel,
  view: () => NetworkView,
): BlockSource =>
  model.subnets === undefined
    ? cluster.blockSource(view().name)
    : sourceOf(() => cluster.subnetsOf({ model, view: view() }));

/** Hands out the blocks that the list has now, each once. */
function sourceOf(list: () => readonly string[]): BlockSource {
  const taken = new Set<string>();
  return {
    claim(pool, holding) {
      const left = list().map((cidr) => parsePrefix(cidr));
      const found = left.find(
        (block) =>
          !taken.has(formatPrefix(block)) &&
          (holding === undefined ? containsPrefix(pool.prefix, block) : containsAddress(block, holding)),
      );
      if (found !== undefined) taken.add(formatPrefix(found));
      return found;
    },
    giveBack: (_, block) => void taken.delete(formatPrefix(block)),
  };
}

/** As long as the subnets that OpenShift gives by default; that of a node has the length that its object has. */
const usualSubnet = 23;

/** The node itself has the first address of its subnet. */
const specSubnets = ({ name, cidr }: PoolView): PoolSpec => ({
  ...{ name, cidr, allocation: 'node-cidr' },
  blockSize: Math.max(usualSubnet, parsePrefix(cidr).length),
});

/** @throws PodwireError CONFIG_INVALID: pools of a cluster are made without knowing the models of its nodes */
function checkEncapsulations({ name, encapsulations }: NetworkModel, pools: readonly PoolView[]): void {
  for (const { name: pool, encapsulation } of pools) {
    if (encapsulation === undefined || encapsulations.includes(encapsulation)) continue;
    const message = `pool ${pool} has the encapsulation ${encapsulation}; the model ${name} has ${encapsulations.join(', ')}`;
    throw new PodwireError('CONFIG_INVALID', message);
  }
}

function enabledFamilies(pools: readonly PoolSpec[]): (4 | 6)[] {
  const enabled = pools.filter(({ disabled = false, assignment }) => !disabled && assignment !== 'manual');
  return ([4, 6] as const).filter((family) => enabled.some(({ cidr }) => familyOf(cidr) === family));
}

/** Takes over what another configuration of the same network says. @throws PodwireError CONFIG_INVALID, and nothing has changed */
export function changeNetwork(network: Network, config: NetworkConfig, inCluster: boolean): void {
  if (!inCluster) network.setPools(poolSpecs(config), poolViews(config));
  network.mtu = config.mtu;
}

function poolSpecs({ pools }: NetworkConfig): readonly PoolSpec[] {
  return pools.map(({ name, cidr, blockSize, reserved, disabled, allocation }) => ({
    ...{ name, cidr, blockSize, reserved, disabled, allocation },
  }));
}

function poolViews(config: NetworkConfig): PoolView[] {
  return config.pools.map(({ name, cidr, natOutgoing }) => ({
    ...{ name, cidr, natOutgoing: natOutgoing ?? config.natOutgoing },
  }));
}

function viewNetwork(config: NetworkConfig, { subnets }: NetworkModel): NetworkView {
  const { name, model, options, natOutgoing } = config;
  const view = { name, model, pools: poolViews(config), ...compact({ options }) };
  if (subnets === undefined) return view;
  return { ...view, pools: subnets.pools(view).map((pool) => ({ ...pool, natOutgoing })) };
}

/** The network that an endpoint was planned for; undefined where it was taken out of the configuration. */
export const networkOf = <N extends Pick<Network, 'view'>>(
  networks: readonly N[],
  { endpoint }: { readonly endpoint: { readonly network: string } },
): N | undefined => networks.find(({ view }) => view.name === endpoint.network);

/** True where addresses come from pools, and not from a subnet of the node or from a controller. */
export const allocatesFromPools = ({
  subnets,
  assigned,
}: Pick<NetworkModel, 'subnets' | 'assigned'>): boolean => subnets === undefined && assigned === undefined;

/** False where the model keeps pods apart by itself, and nothing enforces policy for them. */
export const enforcesPolicy = ({ model }: Pick<Network, 'model'>): boolean => model.policy !== 'none';

/** As {@link enforcesPolicy}, for the network of an endpoint. */
export function isEnforced(
  networks: readonly Pick<Network, 'view' | 'model'>[],
  record: { readonly endpoint: { readonly network: string } },
): boolean {
  const network = networkOf(networks, record);
  return network === undefined || enforcesPolicy(network);
}

/**
 * The network that a plugin configuration means: its `network`, or the one that is called like the CNI network, or
 * `default`, or the first.
 * @throws PodwireError CONFIG_INVALID when `network` names none
 */
export function chooseNetwork(
  networks: readonly Network[],
  request: { readonly name: string; readonly network?: unknown },
): Network {
  const named = (name: unknown): Network | undefined => networks.find(({ view }) => view.name === name);
  if (request.network === undefined || request.network === null) {
    return named(request.name) ?? named('default') ?? networks[0]!;
  }
  const network = named(request.network);
  if (network !== undefined) return network;
  const known = networks.map(({ view }) => view.name);
  const message = `network: there is no network ${JSON.stringify(request.network)} on this node; configured: ${known.join(', ')}`;
  throw new PodwireError('CONFIG_INVALID', message, { details: { known } });
}
