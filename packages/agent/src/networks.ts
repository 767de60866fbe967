import { PodwireError } from '@podwire/errors';
import type { Clock, Ipam, IpamOptions } from '@podwire/ipam';
import type { NetworkModel, NetworkView } from '@podwire/network-contract';
import type { AgentConfig, NetworkConfig } from './config/index.js';

/** A configured network with its model and its addresses. */
export interface Network {
  readonly view: NetworkView;
  /** The families that pods get an address of: those with a pool that is not disabled. */
  readonly families: readonly (4 | 6)[];
  /** bytes; undefined: that of the uplink. */
  readonly mtu: number | undefined;
  readonly model: NetworkModel;
  readonly ipam: Ipam;
  /** A copy of the addresses to try things on: what happens to it has no effect. */
  copyIpam(): Ipam;
}

export interface NetworkFactories {
  readonly models: ReadonlyMap<string, NetworkModel>;
  readonly createIpam: (options: IpamOptions) => Ipam;
  readonly clock: Clock;
}

export function createNetworks(config: AgentConfig, factories: NetworkFactories): Network[] {
  return config.networks.map((network) => createNetwork(network, config.coolDown, factories));
}

function createNetwork(config: NetworkConfig, coolDown: number, factories: NetworkFactories): Network {
  const { models, createIpam, clock } = factories;
  const model = models.get(config.model);
  if (model === undefined) throw new PodwireError('INTERNAL', `there is no network model ${config.model}`);
  const options: IpamOptions = {
    pools: config.pools.map(({ name, cidr, blockSize, reserved, disabled }) => ({
      name,
      cidr,
      blockSize,
      reserved,
      disabled,
    })),
    coolDown,
    clock,
  };
  const ipam = createIpam(options);
  const copyIpam = (): Ipam => {
    const copy = createIpam(options);
    for (const lease of ipam.leases()) copy.adopt(lease);
    return copy;
  };
  return {
    view: viewNetwork(config),
    families: enabledFamilies(config),
    mtu: config.mtu,
    model,
    ipam,
    copyIpam,
  };
}

function enabledFamilies({ pools }: NetworkConfig): (4 | 6)[] {
  const enabled = pools.filter(({ disabled }) => !disabled);
  return ([4, 6] as const).filter((family) =>
    enabled.some(({ cidr }) => cidr.includes(':') === (family === 6)),
  );
}

function viewNetwork(config: NetworkConfig): NetworkView {
  const pools = config.pools.map(({ name, cidr, natOutgoing }) => ({
    name,
    cidr,
    natOutgoing: natOutgoing ?? config.natOutgoing,
  }));
  return { name: config.name, model: config.model, pools };
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
