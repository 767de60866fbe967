/**
 * This node as a member of a cluster, put together. Everything here happens in the background; an ADD asks nothing but {@link
 * ClusterMember.requireUnfenced}, and waits only for {@link ClusterMember.provide}, when the node has run out.
 */
import { parsePrefix, type Prefix } from '@podwire/addresses';
import { type CacheChange, keysBelow } from '@podwire/cluster-state';
import type { PodName } from '@podwire/cluster-ipam';
import { endpointKey } from '@podwire/network-contract';
import { PodwireError } from '@podwire/errors';
import type { PoolSpec } from '@podwire/ipam';
import { compact, withDeadline } from '@podwire/platform';
import { type AgentRecord, fullName, podName } from '../endpoints/registry.js';
import { watchState } from '../node/state-watch.js';
import { followBgp } from './bgp.js';
import type { BgpFollower } from './bgp-contract.js';
import { createBlockOwners } from './block-owners.js';
import { createClusterPools } from './cluster-pools.js';
import type { ClusterMember, FollowingParts, MemberOptions } from './contract.js';
import { createFollower } from './follower.js';
import { openSavedStateFile } from './holdings-file.js';
import { openIdentity } from './identity.js';
import { createJoining } from './joining.js';
import { createOthersAddresses } from './others-addresses.js';
import { openPeerJournal } from './peer-journal.js';
import { viewPeer } from './peer-plan.js';
import { Peers } from './peers.js';
import { createRegistration, type Registration } from './registration.js';
import { createSettleLoop } from './settle-loop.js';

/** Beside the keys of endpoints, which have commas. */
const lockKey = 'cluster';
/** Milliseconds in which changes gather, until a failure is tried again, and for the last report when stopping. */
const gather = 20;
const pause = 1_000;
const flushWait = 1_000;
const controllerPause = 30_000;
/** Of `vanishAfter`: the clocks of two machines do not run alike. */
const trustShare = 0.9;

/** @throws PodwireError CONFIG_INVALID, RECORD_IO */
export function createClusterMember(options: MemberOptions): ClusterMember {
  const { config, nodeName, world, random, faults, log } = options;
  const { store, files, clock } = world;
  const keys = keysBelow(config.root);
  const identity = openIdentity(files, nodeName, random);
  const { instance } = identity;
  const savedState = openSavedStateFile(files, nodeName, instance);
  const cache = world.openCache({ store, keys, log });
  const shared = { node: nodeName, instance, store, keys, clock, faults, log };
  const registration = createRegistration({
    ...shared,
    ...compact({ machine: world.machine }),
    ttl: config.lease,
    vanishAfter: config.vanishAfter,
    describe: () => follower.describe(),
    noteWritten: (key, node, revision) => cache.note(key, node, revision),
  });
  const addressing = world.createAddressing({
    ...shared,
    labels: config.labels,
    cache,
    savedState,
    random,
    taken: () => (parts?.networks ?? []).flatMap(({ taken }) => taken.flatMap(prefixesOf)),
    fenceAfter: config.vanishAfter * trustShare,
    reportEvery: config.reportInterval,
  });
  const controller = config.controller
    ? world.createController({
        ...shared,
        name: `${nodeName}/${process.pid}`,
        evictionTimeout: config.vanishAfter,
      })
    : undefined;
  const pools = createClusterPools({ cache, remembered: savedState.read()?.pools ?? [] });
  const owners = createBlockOwners(cache);
  const others = createOthersAddresses({
    cache,
    nodeName,
    affinities: () => addressing.affinities().map(({ cidr }) => cidr),
    storeAddresses: () => world.storeAddresses?.() ?? [],
  });
  const stopped = new AbortController();
  const listeners = new Set<() => void>();
  let parts: FollowingParts | undefined;
  let isSynced = false;
  let connection = { connected: false, since: clock.now() };
  let controlling: Promise<void> | undefined;
  let watching: Promise<void> | undefined;
  let bgp: BgpFollower | undefined;

  const peers: Peers = new Peers({
    sides: () =>
      (parts?.networks ?? []).map((network) => ({ model: network.model, view: parts!.node.view(network) })),
    // Before the first word from the store, what the last life knew is all there is.
    viewOf: (name) => (isSynced ? viewPeer(cache, name) : peers.known.get(name)?.view),
    journal: openPeerJournal(files, nodeName, log),
    isSynced: () => isSynced,
    // What is left over of others has been spared so far.
    onKnown: () => parts?.loop.nudge(),
    log,
  });
  const follower = createFollower({
    ...options,
    identity,
    addressing,
    pools,
    others,
    registration,
    stopped: stopped.signal,
    changed: () => settling.soon(),
  });
  const joining = createJoining({
    follower,
    registration,
    cache,
    addressing,
    savedState,
    clock,
    log,
    stopped: stopped.signal,
    onKnown(to) {
      for (const record of to.endpoints.all()) member.noteUsed(record);
      peers.adopt();
    },
  });

  async function settle(signal: AbortSignal): Promise<void> {
    // The reconcile that makes the node ready does all of this.
    if (parts === undefined || !parts.readiness.ready) return;
    const { engine, locks, node, loop } = parts;
    const isDone = await locks.withKey(lockKey, signal, async () => {
      follower.follow(parts!);
      if (!(await node.sync(engine, { signal }))) return false;
      await peers.flush(engine, { signal });
      return true;
    });
    if (!isDone) loop.nudge();
    for (const listener of [...listeners]) listener();
  }

  const settling = createSettleLoop({
    work: settle,
    failure: 'the node could not follow the cluster; it is tried again',
    clock,
    log,
    gather,
    pause,
  });

  function noteConnection(): void {
    if (cache.connected !== connection.connected)
      connection = { connected: cache.connected, since: clock.now() };
  }

  function takeChange({ pools: changedPools, blocks, nodes }: CacheChange): void {
    noteConnection();
    if (!isSynced) return;
    if (changedPools.size > 0 || (blocks.size > 0 && pools.lost.length > 0)) pools.refresh();
    noteOthers(changedPools.size > 0 ? undefined : nodes);
    markPeers(nodes);
    markPeers(owners.affected(blocks));
    settling.soon();
  }

  /** @param nodes that have changed; all when it is not known */
  function noteOthers(nodes?: Iterable<string>): void {
    if (others.refresh(nodes)) parts?.node.noteUses();
  }

  function markPeers(names: Iterable<string>): void {
    for (const name of names) if (name !== nodeName) peers.markChanged(name);
  }

  function takeFirst(): void {
    noteConnection();
    isSynced = true;
    pools.refresh();
    noteOthers();
    owners.affected(cache.blocks.keys());
    markPeers(peers.known.keys());
    markPeers(cache.nodes.keys());
    settling.soon();
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

  function speak(): BgpFollower | undefined {
    if (config.bgp === undefined || world.bgp === undefined) return undefined;
    return followBgp({ config: config.bgp, nodeName, member, daemon: world.bgp, clock, log });
  }

  /** Of an endpoint whose pod belongs to a workload with addresses. */
  function workloadOf({ pod, endpoint }: AgentRecord): [network: string, pod: PodName] | undefined {
    const name = fullName(pod);
    if (name === undefined || !addressing.hasWorkload(endpoint.network, name)) return undefined;
    return [endpoint.network, name];
  }

  function hasOther({ id, pod, endpoint }: AgentRecord): boolean {
    const all = parts?.endpoints.find(podName({ pod })!) ?? [];
    return all.some(
      (each) => each.endpoint.network === endpoint.network && endpointKey(each.id) !== endpointKey(id),
    );
  }

  const member: ClusterMember = {
    get identity() {
      return follower.identity;
    },
    facts: follower.facts,
    cache,
    registration,
    addressing,
    peers,
    pools,
    labels: config.labels,
    get connection() {
      const { connected, since } = connection;
      return { kind: store.kind, connected, since: new Date(since).toISOString() };
    },
    get controller() {
      return { enabled: config.controller, leading: controller?.metrics().leading ?? false };
    },
    get bgp() {
      return bgp;
    },
    blockSource: (network) => addressing.source(network),
    requireUnfenced() {
      if (joining.obstacle !== undefined) throw joining.obstacle;
      const { standing } = registration;
      if (standing.kind === 'taken') throw standing.error;
      addressing.requireUnfenced();
    },
    provide: (need, signal) => addressing.provide(need, signal),
    noteUsed(record) {
      const owner = endpointKey(record.id);
      const pod = podName(record);
      const addresses = record.leases.map(({ address }) => address);
      for (const address of addresses) {
        addressing.noteUsed({
          address,
          owner,
          ...compact({ pod }),
          since: record.createdAt,
        });
      }
      const workload = workloadOf(record);
      if (workload !== undefined) addressing.noteAssigned(...workload, addresses);
    },
    noteFree(record) {
      for (const { address } of record.leases) addressing.noteFree(address);
      const workload = workloadOf(record);
      // What another endpoint of the pod has stays the pod's.
      if (workload !== undefined && !hasOther(record)) addressing.noteUnassigned(...workload);
    },
    async join(to) {
      parts = to;
      for (const { view, ipam } of to.networks) addressing.attach(view.name, ipam);
      cache.synced.then(takeFirst, () => undefined);
      cache.onChange(takeChange);
      addressing.onChange(() => settling.soon());
      registration.start();
      controlling = control();
      watching = watchState({
        subject: () => follower.facts.underlay?.link,
        read: world.readLinkState,
        changed: () => to.loop.nudge(),
        clock,
        log,
        signal: stopped.signal,
      });
      bgp = speak();
      await joining.run(to);
    },
    prepareReconcile() {
      if (joining.obstacle !== undefined) throw joining.obstacle;
      if (parts === undefined) return;
      follower.discoverUnderlay();
      noteOthers();
      follower.follow(parts);
    },
    followSoon: () => settling.soon(),
    problems: () => [
      ...follower.problems,
      ...describeRefusal(registration),
      ...pools.lost.map(
        ({ name, cidr }) =>
          `POOL_UNKNOWN: the pool ${name} (${cidr}) was deleted while blocks of it are in use`,
      ),
      ...peers.conflicts(),
      ...[...cache.unreadable].map(([key, reason]) => `OBJECT_INVALID: ${key}: ${reason}`),
    ],
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async stop() {
      stopped.abort(new PodwireError('AGENT_NOT_READY', 'the agent is stopping'));
      await settling.stop();
      await controlling;
      await watching;
      await bgp?.stop();
      await withDeadline(undefined, flushWait, (signal) => addressing.flush(signal)).catch((err: unknown) =>
        log.warn({ err }, 'the store was not told everything before the end'),
      );
      await addressing.stop();
      await registration.stop();
      await cache.close();
    },
  };
  return member;
}

const prefixesOf = ({ taken = [] }: PoolSpec): Prefix[] => taken.map(({ cidr }) => parsePrefix(cidr));

/** Why the store does not take this node; one that does not answer is shown as not connected. */
function describeRefusal({ standing }: Registration): string[] {
  if (standing.kind !== 'away' || !(standing.error instanceof PodwireError)) return [];
  const { code, message } = standing.error;
  return ['STORE_UNAVAILABLE', 'STORE_LEASE_LOST'].includes(code) ? [] : [`${code}: ${message}`];
}
