/**
 * This node as a member of a cluster. Everything here happens in the background; an ADD asks nothing but {@link
 * ClusterMember.requireTrust}, and waits only for {@link ClusterMember.provide}, when the node has run out.
 */
import {
  type ClusterCopy,
  type ClusterCopyOptions,
  type CopyChange,
  keysBelow,
  type Node,
} from '@podwire/cluster';
import type { Need, NodeAddressing, NodeAddressingOptions, PodName } from '@podwire/cluster-ipam';
import { containsPrefix, parsePrefix } from '@podwire/addresses';
import type { Controller, ControllerOptions } from '@podwire/controller';
import type { CallOptions, Engine } from '@podwire/engine';
import { endpointKey } from '@podwire/engine';
import { describeError, PodwireError } from '@podwire/errors';
import type { BlockSource } from '@podwire/ipam';
import type { UnderlayView } from '@podwire/network-contract';
import { type Clock, type FaultPoints, withDeadline } from '@podwire/rim';
import type { Store } from '@podwire/store';
import type { ClusterConfig } from '../config/index.js';
import type { Readiness } from '../endpoints/context.js';
import type { AgentRecord, EndpointRegistry } from '../endpoints/registry.js';
import { podName } from '../endpoints/registry.js';
import { fullName } from '../endpoints/slow-path.js';
import type { Locks } from '../locks.js';
import type { Log } from '../log.js';
import type { Network } from '../networks.js';
import type { HostView } from '../node/host-view.js';
import type { ClusterFacts, NodeState } from '../node/node.js';
import type { ReconcileLoop } from '../reconcile-loop.js';
import { createBlockOwners } from './block-owners.js';
import { type ClusterPools, createClusterPools } from './cluster-pools.js';
import { openHoldings } from './holdings-file.js';
import { type Identity, openIdentity, saveIdentity, type TunnelAddresses, viewTunnel } from './identity.js';
import { openPeerJournal } from './peer-journal.js';
import { viewPeer } from './peer-plan.js';
import { createPeers, type Peers } from './peers.js';
import { createRegistration, type Registration } from './registration.js';
import { createSettleLoop } from './settle-loop.js';
import type { StateFiles } from './state-files.js';
import { adoptTunnel, chooseTunnel, tunnelOwners } from './tunnel.js';
import { chooseUnderlay, type LinkAddress } from './underlay.js';

/** What a member needs of the world. */
export interface ClusterWorld {
  readonly store: Store;
  readonly files: StateFiles;
  readonly clock: Clock;
  readonly readAddresses: () => readonly LinkAddress[];
  readonly openCopy: (options: ClusterCopyOptions) => ClusterCopy;
  readonly createAddressing: (options: NodeAddressingOptions) => NodeAddressing;
  readonly createController: (options: ControllerOptions) => Controller;
}

export interface MemberOptions {
  readonly config: ClusterConfig;
  readonly nodeName: string;
  readonly version: string;
  readonly world: ClusterWorld;
  readonly readHost: () => HostView;
  readonly random: (bytes: number) => Uint8Array;
  readonly faults: FaultPoints;
  readonly log: Log;
}

/** The parts of the agent that follow the cluster. */
export interface FollowingParts {
  readonly networks: readonly Network[];
  readonly node: NodeState;
  readonly endpoints: EndpointRegistry;
  readonly engine: Engine;
  readonly locks: Locks;
  readonly readiness: Readiness;
  readonly loop: ReconcileLoop;
}

export interface ClusterMember {
  readonly identity: Identity;
  readonly facts: ClusterFacts;
  readonly copy: ClusterCopy;
  readonly registration: Registration;
  readonly addressing: NodeAddressing;
  readonly peers: Peers;
  readonly pools: ClusterPools;
  readonly labels: Readonly<Record<string, string>>;
  readonly connection: { readonly kind: string; readonly connected: boolean; readonly since: string };
  readonly controller: { readonly enabled: boolean; readonly leading: boolean };
  blockSource(network: string): BlockSource;
  /** Before every allocation. @throws PodwireError AGENT_NOT_READY, NODE_NAME_TAKEN, NODE_FENCED */
  requireTrust(): void;
  /** @throws PodwireError as NodeAddressing.provide does */
  provide(need: Need, signal: AbortSignal): Promise<void>;
  noteUsed(record: AgentRecord): void;
  noteFree(record: AgentRecord): void;
  /** Begins to join, and goes on until it has. Resolves when it is known how that stands for now. */
  join(parts: FollowingParts): Promise<void>;
  /** What a reconcile begins with. @throws PodwireError AGENT_NOT_READY and others that say why nothing is known yet */
  prepareReconcile(): void;
  /** Applies the peers that have changed; the caller has the node alone. */
  flushPeers(engine: Engine, options: CallOptions): Promise<void>;
  /** What is wrong, in words. */
  problems(): string[];
  /** Called after what others may show of the cluster has changed: peers, blocks, the node. Returns how to stop. */
  onChange(listener: () => void): () => void;
  /** Takes back the presence, and leaves everything else. */
  stop(): Promise<void>;
}

/** Milliseconds: for the store to say who is who; for the copy of the cluster; for the last report when stopping. */
const registrationWait = 3_000;
const copyWait = 5_000;
const flushWait = 1_000;
/** Milliseconds in which changes gather; until a failure is tried again; and between attempts to join. */
const gather = 20;
const pause = 1_000;
const controllerPause = 30_000;
/** Of `vanishAfter`: the clocks of two machines do not run alike. */
const trustShare = 0.9;

export function createClusterMember(options: MemberOptions): ClusterMember {
  const { config, nodeName, version, world, random, faults, log } = options;
  const { store, files, clock } = world;
  const keys = keysBelow(config.root);
  let identity = openIdentity(files, nodeName, random);
  const holdings = openHoldings(files, nodeName, identity.instance);
  const copy = world.openCopy({ store, keys, log });
  const registration = createRegistration({
    node: nodeName,
    instance: identity.instance,
    store,
    keys,
    clock,
    log,
    faults,
    ttl: config.lease,
    noteWritten: (key, node, revision) => copy.note(key, node, revision),
  });
  const addressing = world.createAddressing({
    node: nodeName,
    instance: identity.instance,
    labels: config.labels,
    store,
    keys,
    copy,
    holdings,
    clock,
    random,
    faults,
    log,
    trustFor: config.vanishAfter * trustShare,
    reportEvery: config.reportInterval,
  });
  const pools = createClusterPools({ copy, remembered: holdings.read()?.pools ?? [] });
  const owners = createBlockOwners(copy);
  const stopped = new AbortController();
  const listeners = new Set<() => void>();
  let parts: FollowingParts | undefined;
  let underlay: UnderlayView | undefined;
  let isSynced = false;
  /** Why nothing can be handed out yet; undefined once it can. */
  let obstacle: unknown = new PodwireError('AGENT_NOT_READY', 'the agent is joining its cluster');
  /** Pools that IPAM does not take. */
  const poolProblems = new Map<string, string>();
  let published = '';
  const controller = config.controller
    ? world.createController({
        store,
        keys,
        clock,
        log,
        name: `${nodeName}/${process.pid}`,
        vanishAfter: config.vanishAfter,
      })
    : undefined;
  let controlling: Promise<void> | undefined;
  let connection = { connected: false, since: clock.now() };
  /** What the node holds, by network. */
  const held = new Map<string, readonly string[]>();

  const peers: Peers = createPeers({
    sides: () =>
      (parts?.networks ?? []).map((network) => ({ model: network.model, view: parts!.node.view(network) })),
    // Before the first word from the store, what the last life knew is all there is.
    viewOf: (name) => (isSynced ? viewPeer(copy, name) : peers.known.get(name)?.view),
    journal: openPeerJournal(files, log),
    log,
  });

  const facts: ClusterFacts = {
    get underlay() {
      return underlay;
    },
    get tunnel() {
      return viewTunnel(identity);
    },
    blocksOf: ({ view }) => held.get(view.name) ?? nothing,
    get otherPools() {
      return pools.elsewhere(new Set(parts?.networks.map(({ view }) => view.name)));
    },
  };

  /** @throws PodwireError AGENT_NOT_READY */
  function discoverUnderlay(): void {
    const found = chooseUnderlay(options.readHost(), world.readAddresses(), config.address);
    if (JSON.stringify(found) === JSON.stringify(underlay)) return;
    underlay = found;
    peers.markAllChanged();
  }

  /** Networks get the pools that the cluster has for them now. */
  function followPools({ networks }: FollowingParts): void {
    for (const network of networks) {
      const { name } = network.view;
      const [next, views] = [addressing.pools(name), pools.ofNetwork(name)];
      const isSame = JSON.stringify([next, views]) === JSON.stringify([network.pools, network.view.pools]);
      if (isSame) continue;
      try {
        network.setPools(next, views);
        poolProblems.delete(name);
      } catch (err) {
        log.error({ err, network: name }, 'the pools of a network cannot be used; those before stay');
        poolProblems.set(name, `${name}: ${describeError(err)}`);
      }
      peers.markAllChanged();
    }
  }

  /** Blocks that have become another's are nothing to hand out of, whoever has noticed. */
  function dropLostBlocks({ networks }: FollowingParts): void {
    const own = new Set(addressing.holdings().map(({ cidr }) => cidr));
    for (const { ipam } of networks) {
      for (const cidr of ipam.blocks().filter((each) => !own.has(each))) {
        log.warn({ block: cidr, leases: ipam.dropBlock(cidr).length }, 'a block is not this node’s any more');
      }
    }
  }

  function followHoldings({ networks }: FollowingParts): void {
    const cidrs = addressing.holdings().map(({ cidr }) => cidr);
    for (const network of networks) {
      const { name } = network.view;
      const own = within(network, cidrs);
      if (JSON.stringify(own) !== JSON.stringify(held.get(name))) held.set(name, own);
    }
  }

  function followTunnel({ networks }: FollowingParts): void {
    const own = addressing.holdings().map(({ cidr }) => cidr);
    const { tunnel, needs } = chooseTunnel(networks, identity.tunnel, own);
    if (JSON.stringify(tunnel) !== JSON.stringify(identity.tunnel)) {
      const before = identity.tunnel;
      identity = { ...identity, tunnel };
      saveIdentity(files, identity);
      noteTunnel(before, tunnel);
      peers.markAllChanged();
    }
    for (const need of needs) provideTunnel(need);
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

  const providing = new Set<string>();
  /** In the background: without it this node's pods cannot be reached through tunnels, but they can be made. */
  function provideTunnel(need: Need): void {
    const key = JSON.stringify(need);
    if (providing.has(key)) return;
    providing.add(key);
    withDeadline(stopped.signal, copyWait, (signal) => addressing.provide(need, signal))
      .then(
        () => settling.soon(),
        async (err: unknown) => {
          if (stopped.signal.aborted) return;
          log.warn({ err }, 'no address for the node’s end of tunnels yet');
          await clock.sleep(pause, stopped.signal);
          settling.soon();
        },
      )
      .catch(() => undefined) // stopped while it slept
      .finally(() => providing.delete(key));
  }

  /** Everything that the cluster says of this node, into its networks and its own facts. In memory alone. */
  function follow(to: FollowingParts): void {
    dropLostBlocks(to);
    followPools(to);
    followHoldings(to);
    followTunnel(to);
    publish();
  }

  function publish(): void {
    const node = describeNode();
    if (node === undefined) return;
    const text = JSON.stringify(node);
    if (text === published) return;
    published = text;
    registration.publish({ ...node, registeredAt: clock.now() });
  }

  function describeNode(): Omit<Node, 'registeredAt'> | undefined {
    if (underlay === undefined) return undefined;
    const { ipv4, ipv6, mtu } = underlay;
    const { tunnel } = facts;
    return {
      name: nodeName,
      instance: identity.instance,
      version,
      labels: config.labels,
      addresses: { ...(ipv4 === undefined ? {} : { ipv4 }), ...(ipv6 === undefined ? {} : { ipv6 }) },
      mtu,
      ...(tunnel === undefined ? {} : { tunnel }),
    };
  }

  async function settle(signal: AbortSignal): Promise<void> {
    // The reconcile that makes the node ready does all of this.
    if (parts === undefined || !parts.readiness.ready) return;
    const { engine, locks, node, loop } = parts;
    const isDone = await locks.withEndpoint(lockKey, signal, async () => {
      follow(parts!);
      if (!(await node.sync(engine, { signal }))) return false;
      await peers.flush(engine, { signal });
      return true;
    });
    if (!isDone) loop.nudge();
    announce();
  }

  function announce(): void {
    for (const listener of [...listeners]) listener();
  }

  const settling = createSettleLoop({ work: settle, clock, log, gather, pause });

  function takeChange({ pools: changedPools, blocks, nodes }: CopyChange): void {
    if (copy.connected !== connection.connected)
      connection = { connected: copy.connected, since: clock.now() };
    if (!isSynced) return;
    if (changedPools.size > 0 || (blocks.size > 0 && pools.lost.length > 0)) {
      pools.refresh();
      peers.markAllChanged();
    }
    markPeers(nodes);
    markPeers(owners.affected(blocks));
    settling.soon();
  }

  function markPeers(names: Iterable<string>): void {
    for (const name of names) if (name !== nodeName) peers.markChanged([name]);
  }

  function takeFirst(): void {
    isSynced = true;
    connection = { connected: copy.connected, since: clock.now() };
    pools.refresh();
    owners.affected(copy.blocks.keys());
    peers.markAllChanged();
    markPeers(copy.nodes.keys());
    settling.soon();
  }

  /** @throws what keeps the node from knowing what it may hand out */
  async function learn(to: FollowingParts, signal: AbortSignal): Promise<void> {
    discoverUnderlay();
    await withDeadline(signal, registrationWait, (late) => either(registration.settled, late)).catch(
      () => undefined,
    );
    signal.throwIfAborted();
    const { standing } = registration;
    if (standing.kind === 'taken') throw standing.error;
    if (standing.kind === 'registered') {
      await withDeadline(signal, copyWait, (late) => either(copy.synced, late)).catch(() => undefined);
    }
    if (!isSynced && holdings.read() === undefined) throw nothingKnown();
    await addressing.start(inUse(to), signal);
    pickUp(to);
  }

  function nothingKnown(): PodwireError {
    const { standing } = registration;
    const why = standing.kind === 'away' ? describeError(standing.error) : 'it does not answer';
    const message = `the store is away (${why}), and this node has nothing of an earlier life to hand out`;
    return new PodwireError('AGENT_NOT_READY', message);
  }

  const inUse = ({ endpoints }: FollowingParts): { address: string; owner: string }[] => [
    ...endpoints
      .all()
      .flatMap(({ id, leases }) => leases.map(({ address }) => ({ address, owner: endpointKey(id) }))),
    ...([4, 6] as const).flatMap((family) => {
      const address = identity.tunnel[family === 4 ? 'ipv4' : 'ipv6'];
      return address === undefined ? [] : [{ address, owner: tunnelOwners[family] }];
    }),
  ];

  /** The node knows what is its own: its addresses of an earlier life are taken before anybody is given one. */
  function pickUp(to: FollowingParts): void {
    followPools(to);
    followHoldings(to);
    adoptTunnel(to.networks, identity.tunnel, clock.now());
    for (const record of to.endpoints.all()) member.noteUsed(record);
    noteTunnel({}, identity.tunnel);
    peers.adopt();
    obstacle = undefined;
  }

  async function joinOnce(to: FollowingParts): Promise<boolean> {
    try {
      await learn(to, stopped.signal);
      log.info({ instance: identity.instance, connected: copy.connected }, 'joined the cluster');
      return true;
    } catch (error) {
      if (stopped.signal.aborted) return true;
      obstacle = error;
      to.readiness.problem = describeError(error);
      log.warn({ err: error }, 'the node has not joined its cluster yet');
      return false;
    }
  }

  async function goOnJoining(to: FollowingParts): Promise<void> {
    do {
      await nextChange();
      stopped.signal.throwIfAborted();
    } while (!(await joinOnce(to)));
    to.loop.nudge();
  }

  /** Seeks to lead the cluster for as long as the agent lives. */
  async function control(): Promise<void> {
    while (controller !== undefined && !stopped.signal.aborted) {
      try {
        await controller.run(stopped.signal);
      } catch (err) {
        if (stopped.signal.aborted) return;
        log.error({ err }, 'the controller has ended; it begins again');
        await clock.sleep(controllerPause, stopped.signal).catch(() => undefined);
      }
    }
  }

  /** Until the store says something, or a while. */
  async function nextChange(): Promise<void> {
    const awake = new AbortController();
    const wake = (): void => awake.abort();
    const ends = [registration.onChange(wake), copy.onChange(wake)];
    stopped.signal.addEventListener('abort', wake, { once: true });
    await clock.sleep(pause, awake.signal).catch(() => undefined);
    stopped.signal.removeEventListener('abort', wake);
    for (const end of ends) end();
  }

  /** Of an endpoint whose pod belongs to a workload with addresses. */
  function workloadOf({ pod, endpoint }: AgentRecord): [network: string, pod: PodName] | undefined {
    const name = fullName(pod);
    if (name === undefined || !addressing.hasWorkload(endpoint.network, name)) return undefined;
    return [endpoint.network, name];
  }

  const member: ClusterMember = {
    get identity() {
      return identity;
    },
    facts,
    copy,
    registration,
    addressing,
    peers,
    pools,
    labels: config.labels,
    get connection() {
      return {
        kind: store.kind,
        connected: connection.connected,
        since: new Date(connection.since).toISOString(),
      };
    },
    get controller() {
      return { enabled: config.controller, leading: controller?.metrics().leading ?? false };
    },
    blockSource: (network) => addressing.source(network),
    requireTrust() {
      if (obstacle !== undefined) throw obstacle;
      const { standing } = registration;
      if (standing.kind === 'taken') throw standing.error;
      addressing.requireTrust();
    },
    provide: (need, signal) => addressing.provide(need, signal),
    noteUsed(record) {
      const owner = endpointKey(record.id);
      const pod = podName(record);
      for (const { address } of record.leases) {
        addressing.noteUsed({
          address,
          owner,
          ...(pod === undefined ? {} : { pod }),
          since: record.createdAt,
        });
      }
      const workload = workloadOf(record);
      if (workload === undefined) return;
      addressing.noteAssigned(
        ...workload,
        record.leases.map(({ address }) => address),
      );
    },
    noteFree(record) {
      for (const { address } of record.leases) addressing.noteFree(address);
      const workload = workloadOf(record);
      if (workload !== undefined) addressing.noteUnassigned(...workload);
    },
    async join(to) {
      parts = to;
      for (const { view, ipam } of to.networks) addressing.attach(view.name, ipam);
      copy.synced.then(takeFirst, () => undefined);
      copy.onChange(takeChange);
      addressing.onChange(() => settling.soon());
      registration.start();
      controlling = control();
      if (await joinOnce(to)) return;
      goOnJoining(to).catch(() => undefined); // stopped
    },
    prepareReconcile() {
      if (obstacle !== undefined) throw obstacle;
      if (parts === undefined) return;
      discoverUnderlay();
      follow(parts);
    },
    flushPeers: (engine, callOptions) => peers.flush(engine, callOptions),
    problems: () => [
      ...poolProblems.values(),
      ...pools.lost.map(
        ({ name, cidr }) =>
          `POOL_UNKNOWN: the pool ${name} (${cidr}) was deleted while blocks of it are in use`,
      ),
      ...[...copy.unreadable].map(([key, reason]) => `OBJECT_INVALID: ${key}: ${reason}`),
    ],
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async stop() {
      stopped.abort(new PodwireError('AGENT_NOT_READY', 'the agent is stopping'));
      await settling.stop();
      await controlling;
      await withDeadline(undefined, flushWait, (signal) => addressing.flush(signal)).catch((err: unknown) =>
        log.warn({ err }, 'the store was not told everything before the end'),
      );
      await addressing.stop();
      await registration.stop();
      await copy.close();
    },
  };
  return member;
}

/** Beside the keys of endpoints, which have commas. */
const lockKey = 'cluster';

const nothing: readonly string[] = [];

/** Those that lie in pools of the network. */
function within({ view }: Network, cidrs: readonly string[]): string[] {
  const pools = view.pools.map(({ cidr }) => parsePrefix(cidr));
  return cidrs.filter((cidr) => {
    const prefix = parsePrefix(cidr);
    return pools.some((pool) => containsPrefix(pool, prefix));
  });
}

/** What comes first. @throws the signal's reason */
function either(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
