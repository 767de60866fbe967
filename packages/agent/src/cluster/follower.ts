/** What the cluster says of this node, into its networks and its own facts: pools, blocks, its address in tunnels. */
import { containsPrefix, type Family, parsePrefix } from '@podwire/addresses';
import type { Node } from '@podwire/cluster-state';
import type { Need, NodeAddressing } from '@podwire/cluster-ipam';
import { describeError } from '@podwire/errors';
import type { UnderlayView } from '@podwire/network-contract';
import { compact, withDeadline } from '@podwire/platform';
import type { Network } from '../networks.js';
import type { ClusterFacts } from '../node/node.js';
import type { ClusterPools } from './cluster-pools.js';
import type { FollowingParts, MemberOptions } from './contract.js';
import { type Identity, saveIdentity, type TunnelAddresses, viewTunnel } from './identity.js';
import { machineLabel } from './node-name.js';
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
  /** Aborts when the agent stops. */
  readonly stopped: AbortSignal;
  /** Something has come that was waited for. */
  readonly changed: () => void;
}

export interface Follower {
  readonly identity: Identity;
  readonly facts: ClusterFacts;
  /** Pools that IPAM does not take, and a file that cannot be written, in words. */
  readonly problems: readonly string[];
  /** @throws PodwireError AGENT_NOT_READY */
  discoverUnderlay(): void;
  /** What others shall know of the node now; undefined while it is not known how it can be reached. */
  describe(): Node | undefined;
  /** Addresses of an earlier life are taken before anybody is given one. Once, when it is known what the node has. */
  pickUp(parts: FollowingParts): void;
  /** In memory and in the node's file; the kernel follows later. */
  follow(parts: FollowingParts): void;
}

/** Milliseconds to get an address for tunnels, and until it is tried again. */
const provideWait = 5_000;
const pause = 1_000;

const nothing: readonly string[] = [];
/** Among the names of networks, none of which is empty. */
const ownProblem = '';

export function createFollower(options: FollowerOptions): Follower {
  const { config, nodeName, version, world, log, addressing, pools, registration, stopped, changed } =
    options;
  const { tunnelMac } = options;
  const { files, clock, readAddresses } = world;
  let { identity } = options;
  let saved = identity;
  let tunnelView = viewTunnel(identity, tunnelMac);
  let underlay: UnderlayView | undefined;
  /** What the node holds, by network. */
  const held = new Map<string, readonly string[]>();
  const problems = new Map<string, string>();
  const providing = new Set<string>();
  /** Needs of the node's end of tunnels for which the first attempt is over. */
  const attempted = new Set<string>();
  /** The end of tunnels is about to come. */
  let isIncomplete = false;
  let names: ReadonlySet<string> = new Set();
  let published = '';

  const facts: ClusterFacts = {
    get underlay() {
      return underlay;
    },
    get tunnel() {
      return tunnelView;
    },
    blocksOf: ({ view }) => held.get(view.name) ?? nothing,
    get otherPools() {
      return pools.elsewhere(names);
    },
    get uses() {
      return options.others.uses;
    },
  };

  function followPools({ networks }: FollowingParts): void {
    names = new Set(networks.map(({ view }) => view.name));
    for (const network of networks) {
      const { name } = network.view;
      const [next, views] = [addressing.pools(name), pools.ofNetwork(name)];
      const isNew = JSON.stringify([next, views]) !== JSON.stringify([network.pools, network.view.pools]);
      try {
        if (isNew) network.setPools(next, views);
        problems.delete(name);
      } catch (err) {
        const problem = `network ${name}: ${describeError(err)}`;
        // Tried with every change in the cluster, and said once.
        if (problems.get(name) !== problem)
          log.error({ err, network: name }, 'the pools of a network cannot be used; those before stay');
        problems.set(name, problem);
      }
    }
  }

  function followHoldings({ networks }: FollowingParts): void {
    const cidrs = addressing.affinities().map(({ cidr }) => cidr);
    for (const network of networks) {
      const { name } = network.view;
      const own = within(network, cidrs);
      // The same array until it changes: an ADD compares no more than that.
      if (JSON.stringify(own) !== JSON.stringify(held.get(name))) held.set(name, own);
    }
  }

  function followTunnel({ networks, node }: FollowingParts): void {
    const own = addressing.affinities().map(({ cidr }) => cidr);
    const families: Family[] = networks.some((network) => node.view(network).ipv6) ? [4, 6] : [4];
    const { tunnel, needs } = chooseTunnel(networks, identity.tunnel, { own, families });
    if (JSON.stringify(tunnel) !== JSON.stringify(identity.tunnel)) {
      noteTunnel(identity.tunnel, tunnel);
      identity = { ...identity, tunnel };
      tunnelView = viewTunnel(identity, tunnelMac);
    }
    saveChange();
    isIncomplete = needs.some((need) => !attempted.has(JSON.stringify(need)));
    for (const need of needs) void provide(need);
  }

  /** A full disk is no reason to cut pods off; it is tried again with the next change and the next reconcile. */
  function saveChange(): void {
    if (saved === identity) return;
    try {
      saveIdentity(files, identity);
      saved = identity;
      problems.delete(ownProblem);
    } catch (err) {
      log.error({ err }, 'the addresses in tunnels could not be written down; a restart may choose others');
      problems.set(ownProblem, `RECORD_IO: ${describeError(err)}`);
    }
  }

  function noteTunnel(before: TunnelAddresses, now: TunnelAddresses): void {
    for (const [family, key] of [[4, 'ipv4'] as const, [6, 'ipv6'] as const]) {
      const [old, address] = [before[key], now[key]];
      if (old === address) continue;
      if (old !== undefined) addressing.noteFree(old);
      if (address !== undefined)
        addressing.noteUsed({ address, owner: tunnelOwners[family], since: clock.now() });
    }
  }

  /** In the background: without it this node's pods cannot be reached through tunnels, but they can be made. */
  async function provide(need: Need): Promise<void> {
    const key = JSON.stringify(need);
    if (providing.has(key)) return;
    providing.add(key);
    const isProvided = await tryToProvide(need);
    attempted.add(key);
    if (!isProvided) {
      changed();
      await clock.sleep(pause, stopped).catch(() => undefined);
    }
    providing.delete(key);
    changed();
  }

  async function tryToProvide(need: Need): Promise<boolean> {
    try {
      await withDeadline(stopped, provideWait, (signal) => addressing.provide(need, signal));
      return true;
    } catch (err) {
      if (!stopped.aborted) log.warn({ err }, "there is no address for the node's end of tunnels yet");
      return false;
    }
  }

  /** Peers would drop their way to a node without its end of tunnels, only to make it again a moment later. */
  function publish(): void {
    if (isIncomplete) return;
    const node = describe();
    if (node === undefined) return;
    const text = JSON.stringify({ ...node, registeredAt: 0 });
    if (text === published) return;
    published = text;
    registration.publish(node);
  }

  function describe(): Node | undefined {
    if (underlay === undefined) return undefined;
    const { ipv4, ipv6, mtu } = underlay;
    const { tunnel } = facts;
    return {
      name: nodeName,
      instance: identity.instance,
      version,
      labels: {
        ...config.labels,
        ...(world.machine === undefined ? {} : { [machineLabel]: world.machine }),
      },
      addresses: compact({ ipv4, ipv6 }),
      mtu,
      ...compact({ tunnel }),
      vanishAfter: config.vanishAfter,
      registeredAt: clock.now(),
    };
  }

  return {
    get identity() {
      return identity;
    },
    facts,
    get problems() {
      return [...problems.values()];
    },
    describe,
    discoverUnderlay() {
      const found = chooseUnderlay(options.readHost(), readAddresses(), config.address);
      if (JSON.stringify(found) !== JSON.stringify(underlay)) underlay = found;
    },
    pickUp(parts) {
      followPools(parts);
      followHoldings(parts);
      adoptTunnel(parts.networks, identity.tunnel, clock.now());
      noteTunnel({}, identity.tunnel);
    },
    follow(parts) {
      followPools(parts);
      followHoldings(parts);
      followTunnel(parts);
      publish();
    },
  };
}

/** Those that lie in pools of the network. */
function within({ view }: Network, cidrs: readonly string[]): string[] {
  const pools = view.pools.map(({ cidr }) => parsePrefix(cidr));
  return cidrs.filter((cidr) => {
    const prefix = parsePrefix(cidr);
    return pools.some((pool) => containsPrefix(pool, prefix));
  });
}
