/** Applies what the cluster has for this node to its networks and facts: pools, blocks, its tunnel addresses. */
import { isDeepStrictEqual } from 'node:util';
import { containsPrefix, type Family, parsePrefix } from '@podwire/addresses';
import { machineLabel, type Node } from '@podwire/cluster-state';
import type { Need, NodeAddressing } from '@podwire/cluster-ipam';
import { describeError } from '@podwire/errors';
import type { NodeNow, TunnelView, UnderlayView } from '@podwire/network-contract';
import { compact, pause, withDeadline } from '@podwire/platform';
import { allocatesFromPools, type Network } from '../networks.js';
import type { HostView } from '../node/host-view.js';
import { readScopeState } from '../node/model-scopes.js';
import type { ClusterFacts } from '../node/node.js';
import type { ClusterPools } from './cluster-pools.js';
import type { FollowingParts, MemberOptions } from './contract.js';
import { type AddressPair, type Identity, saveIdentity, viewTunnel } from './identity.js';
import type { OthersAddresses } from './others-addresses.js';
import type { Registration } from './registration.js';
import { adoptTunnel, chooseTunnel, tunnelOwners } from './tunnel.js';
import { chooseUnderlay } from './underlay.js';

export interface FollowerOptions extends MemberOptions {
  readonly identity: Identity;
  readonly addressing: NodeAddressing;
  readonly pools: ClusterPools;
  readonly others: Pick<OthersAddresses, 'uses'>;
  readonly registration: Registration;
  readonly subnetsOf: (network: Network) => readonly string[];
  /** Facts of this node's object, as the store has them; undefined also while that is not known. */
  readonly storedFacts: () => Node['facts'];
  /** Aborts when the agent stops. */
  readonly stopped: AbortSignal;
  /** An address for tunnels was provided, or was not. */
  readonly changed: () => void;
}

/** Milliseconds to get an address for tunnels, and until it is tried again. */
const provideDeadline = 5_000;
const retryAfter = 1_000;

const nothing: readonly string[] = [];
/** The topic of the node's own problem; no network has an empty name. */
const ownProblem = '';

export class ClusterFollower {
  readonly #options: FollowerOptions;
  readonly facts: ClusterFacts;
  #identity: Identity;
  #saved: Identity;
  #tunnelView: TunnelView | undefined;
  #underlay: UnderlayView | undefined;
  /** By network. */
  readonly #blocks = new Map<string, readonly string[]>();
  readonly #problems = new Map<string, string>();
  /** Needs of tunnel addresses that are being provided, and those whose first attempt is over. */
  readonly #providing = new Set<string>();
  readonly #attempted = new Set<string>();
  /** A tunnel address is about to be provided. */
  #isIncomplete = false;
  #networkNames: ReadonlySet<string> = new Set();
  #published = '';
  /** By the name of the model. */
  #modelFacts: Node['facts'];

  constructor(options: FollowerOptions) {
    this.#options = options;
    this.#identity = options.identity;
    this.#saved = options.identity;
    this.#tunnelView = viewTunnel(options.identity, options.tunnelMac);
    this.facts = this.#createFacts();
  }

  #createFacts(): ClusterFacts {
    // Accessors of the object refer to this follower.
    const [underlay, tunnel] = [() => this.#underlay, () => this.#tunnelView];
    const otherPools = () => this.#options.pools.elsewhere(this.#networkNames);
    const uses = () => this.#options.others.uses;
    return {
      get underlay() {
        return underlay();
      },
      get tunnel() {
        return tunnel();
      },
      blocksOf: ({ view }) => this.#blocks.get(view.name) ?? nothing,
      get otherPools() {
        return otherPools();
      },
      get uses() {
        return uses();
      },
    };
  }

  get identity(): Identity {
    return this.#identity;
  }

  /** Pools that IPAM does not accept, and a file that cannot be written. */
  get problems(): readonly string[] {
    return [...this.#problems.values()];
  }

  /** @throws PodwireError AGENT_NOT_READY */
  discoverUnderlay(host: HostView): void {
    const { world, config } = this.#options;
    const { addresses: earlier } = this.#identity;
    const found = chooseUnderlay(host, world.readAddresses(), config.address, earlier);
    if (JSON.stringify(found) !== JSON.stringify(this.#underlay)) this.#underlay = found;
    const { ipv4, ipv6 } = found;
    const addresses = compact({ ipv4, ipv6 });
    if (!isDeepStrictEqual(addresses, earlier)) this.#identity = { ...this.#identity, addresses };
  }

  /** Takes the tunnel addresses of an earlier life before any address is allocated. Once. */
  resume(parts: FollowingParts): void {
    this.#applyPools(parts);
    this.#applyBlocks(parts);
    this.#modelFacts = this.#collectFacts(parts);
    adoptTunnel(parts.networks, this.#identity.tunnel, this.#options.world.clock.now());
    this.#noteTunnel({}, this.#identity.tunnel);
  }

  /** In memory and in the node's file; the kernel follows later. */
  follow(parts: FollowingParts): void {
    this.#applyPools(parts);
    this.#applyBlocks(parts);
    this.#applyTunnel(parts);
    this.publish(parts);
  }

  /** Facts that models publish by now, as far as they are others than before. */
  publish(parts: FollowingParts): void {
    this.#modelFacts = this.#collectFacts(parts);
    this.#publish();
  }

  /** The node object; undefined while it is not known how the node can be reached. */
  describe(): Node | undefined {
    if (this.#underlay === undefined) return undefined;
    const { nodeName, version, config, world } = this.#options;
    const { ipv4, ipv6, mtu } = this.#underlay;
    return compact({
      name: nodeName,
      instance: this.#identity.instance,
      version,
      labels: {
        ...config.labels,
        ...(world.machine === undefined ? {} : { [machineLabel]: world.machine }),
      },
      addresses: compact({ ipv4, ipv6 }),
      mtu,
      tunnel: this.#tunnelView,
      facts: this.#modelFacts,
      vanishAfter: config.vanishAfter,
      registeredAt: world.clock.now(),
    });
  }

  #applyPools({ networks }: FollowingParts): void {
    const { addressing, pools, log } = this.#options;
    this.#networkNames = new Set(networks.map(({ view }) => view.name));
    for (const network of networks.filter(({ model }) => allocatesFromPools(model))) {
      const { name } = network.view;
      const [next, views] = [addressing.pools(name), pools.ofNetwork(name)];
      const isNew = JSON.stringify([next, views]) !== JSON.stringify([network.pools, network.view.pools]);
      try {
        if (isNew) network.setPools(next, views);
        this.#problems.delete(name);
      } catch (err) {
        const problem = `network ${name}: ${describeError(err)}`;
        // Tried at every change in the cluster, and logged once.
        if (this.#problems.get(name) !== problem)
          log.error({ err, network: name }, 'the pools of a network cannot be used; the earlier ones stay');
        this.#problems.set(name, problem);
      }
    }
  }

  #applyBlocks({ networks }: FollowingParts): void {
    const cidrs = this.#options.addressing.affinities().map(({ cidr }) => cidr);
    for (const network of networks) {
      const { name } = network.view;
      const own =
        network.model.subnets === undefined ? within(network, cidrs) : this.#options.subnetsOf(network);
      // The same array until it changes: an ADD compares the reference only.
      if (JSON.stringify(own) !== JSON.stringify(this.#blocks.get(name))) this.#blocks.set(name, own);
    }
  }

  #applyTunnel({ networks, node }: FollowingParts): void {
    const own = this.#options.addressing.affinities().map(({ cidr }) => cidr);
    const families: Family[] = networks.some((network) => node.view(network).ipv6) ? [4, 6] : [4];
    const { tunnel, needs } = chooseTunnel(networks, this.#identity.tunnel, { own, families });
    if (JSON.stringify(tunnel) !== JSON.stringify(this.#identity.tunnel)) {
      this.#noteTunnel(this.#identity.tunnel, tunnel);
      this.#identity = { ...this.#identity, tunnel };
      this.#tunnelView = viewTunnel(this.#identity, this.#options.tunnelMac);
    }
    this.#save();
    this.#isIncomplete = needs.some((need) => !this.#attempted.has(JSON.stringify(need)));
    for (const need of needs) void this.#provide(need);
  }

  /** A full disk must not cut pods off; it is tried again at the next change and the next reconcile. */
  #save(): void {
    if (this.#saved === this.#identity) return;
    const { world, log } = this.#options;
    try {
      saveIdentity(world.files, this.#identity);
      this.#saved = this.#identity;
      this.#problems.delete(ownProblem);
    } catch (err) {
      log.error({ err }, 'the addresses of the node could not be saved; a restart may choose others');
      this.#problems.set(ownProblem, `RECORD_IO: ${describeError(err)}`);
    }
  }

  #noteTunnel(before: AddressPair, now: AddressPair): void {
    const { addressing, world } = this.#options;
    for (const [family, key] of [[4, 'ipv4'] as const, [6, 'ipv6'] as const]) {
      const [old, address] = [before[key], now[key]];
      if (old === address) continue;
      if (old !== undefined) addressing.noteFree(old);
      if (address !== undefined)
        addressing.noteUsed({ address, owner: tunnelOwners[family], since: world.clock.now() });
    }
  }

  /** In the background: without a tunnel address the node's pods cannot be reached through tunnels, but can be created. */
  async #provide(need: Need): Promise<void> {
    const { world, stopped, changed } = this.#options;
    const key = JSON.stringify(need);
    if (this.#providing.has(key)) return;
    this.#providing.add(key);
    const isProvided = await this.#tryToProvide(need);
    this.#attempted.add(key);
    if (!isProvided) {
      changed();
      await pause(world.clock, retryAfter, stopped);
    }
    this.#providing.delete(key);
    changed();
  }

  async #tryToProvide(need: Need): Promise<boolean> {
    const { addressing, stopped, log } = this.#options;
    try {
      await withDeadline(stopped, provideDeadline, (signal) => addressing.provide(need, signal));
      return true;
    } catch (err) {
      if (!stopped.aborted) log.warn({ err }, 'there is no tunnel address for the node yet');
      return false;
    }
  }

  /** Facts that the models of this node's networks publish; undefined where there are none. */
  #collectFacts({ networks, node }: FollowingParts): Node['facts'] {
    const known = this.#modelFacts ?? this.#options.storedFacts();
    const published = networks.flatMap((network) => {
      const { name } = network.model;
      const facts = network.model.publish?.(node.view(network), this.#readNow(known?.[name]));
      return facts === undefined || Object.keys(facts).length === 0 ? [] : [[name, facts] as const];
    });
    return published.length === 0 ? undefined : Object.fromEntries(published);
  }

  #readNow(before: NodeNow['before'] = {}): NodeNow {
    const { desired } = this.#options;
    return { read: desired.read, stateOf: (scope) => readScopeState(desired, scope), before };
  }

  /** Not without the tunnel address: peers would remove their routes to the node, and add them again a moment later. */
  #publish(): void {
    if (this.#isIncomplete) return;
    const node = this.describe();
    if (node === undefined) return;
    const text = JSON.stringify({ ...node, registeredAt: 0 });
    if (text === this.#published) return;
    this.#published = text;
    this.#options.registration.publish(node);
  }
}

/** Those that lie in pools of the network. */
function within({ view }: Network, cidrs: readonly string[]): string[] {
  const pools = view.pools.map(({ cidr }) => parsePrefix(cidr));
  return cidrs.filter((cidr) => {
    const prefix = parsePrefix(cidr);
    return pools.some((pool) => containsPrefix(pool, prefix));
  });
}
