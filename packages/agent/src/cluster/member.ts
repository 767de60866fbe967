/**
 * This node as a member of a cluster. Everything here runs in the background; an ADD calls {@link ClusterMember.requireUnfenced}, which
 * is in memory, and waits for {@link ClusterMember.provide} only when the node's blocks are full.
 */
import { parsePrefix, type Prefix } from '@podwire/addresses';
import { type CacheChange, type ClusterCache, type Keys, keysBelow } from '@podwire/cluster-state';
import type { Need, NodeAddressing, PodName, SavedStateStore } from '@podwire/cluster-ipam';
import type { Controller } from '@podwire/controller';
import { endpointKey, type PeerView } from '@podwire/network-contract';
import type { FactName } from '@podwire/planner';
import { PodwireError } from '@podwire/errors';
import type { BlockSource, PoolSpec } from '@podwire/ipam';
import type { Revision } from '@podwire/store';
import { compact, pause, withDeadline, Workqueue } from '@podwire/platform';
import { fullName, podName } from '../endpoints/registry.js';
import { allocatesFromPools, type Network } from '../networks.js';
import type { EndpointRecord } from '../records/record.js';
import type { ClusterFacts } from '../node/node.js';
import { watchState } from '../node/state-watch.js';
import { followBgp } from './bgp.js';
import type { BgpFollower } from './bgp-contract.js';
import { type BlockOwners, createBlockOwners } from './block-owners.js';
import { type ClusterPools, createClusterPools } from './cluster-pools.js';
import type { ClusterMember, FollowingParts, MemberOptions } from './contract.js';
import { ClusterFollower } from './follower.js';
import { type Identity, openIdentity } from './identity.js';
import { Joining } from './joining.js';
import { listSubnetOwners, readSubnets, requireSubnets } from './node-subnets.js';
import type { ObjectFactStore } from './object-facts.js';
import { ObjectsInForce } from './objects-in-force.js';
import { createOthersAddresses, type OthersAddresses } from './others-addresses.js';
import {
  createAddressing,
  createController,
  createObjects,
  createPeerLeases,
  createPodRecords,
  createRegistration,
} from './member-parts.js';
import { describeHeld, type PodRecords } from './pod-records.js';
import { openPeerJournal } from './peer-journal.js';
import type { PeerLeases } from './peer-leases.js';
import { viewPeer } from './peer-plan.js';
import { Peers } from './peers.js';
import type { Registration } from './registration.js';
import { openSavedStateFile } from './state-files.js';

/** The one key of the queue. */
const syncKey = 'cluster';
/** Milliseconds in which changes are gathered, and until a failure is tried again. */
const syncDelay = 20;
const retryAfter = 1_000;
/** Of the controller, that the status of the leader's node lists: each namespace may have one. */
const mostProblems = 16;
/** Milliseconds for the last report, and until the controller is started again. */
const flushDeadline = 1_000;
const controllerPause = 30_000;

/** @throws PodwireError CONFIG_INVALID, RECORD_IO */
export const createClusterMember = (options: MemberOptions): ClusterMember => new StoreMember(options);

class StoreMember implements ClusterMember {
  readonly keys: Keys;
  readonly cache: ClusterCache;
  readonly registration: Registration;
  readonly addressing: NodeAddressing;
  readonly peers: Peers;
  readonly peerLeases: PeerLeases;
  readonly pools: ClusterPools;
  readonly objects: ObjectFactStore;
  readonly podRecords: PodRecords | undefined;
  readonly #inForce = new ObjectsInForce();
  readonly #options: MemberOptions;
  readonly #savedState: SavedStateStore;
  readonly #controllers: Controller | undefined;
  readonly #owners: BlockOwners;
  readonly #others: OthersAddresses;
  readonly #follower: ClusterFollower;
  readonly #joining: Joining;
  readonly #sync: Workqueue<typeof syncKey>;
  readonly #stopped = new AbortController();
  readonly #listeners = new Set<() => void>();
  readonly #background: Promise<void>[] = [];
  #parts: FollowingParts | undefined;
  #isSynced = false;
  #connected: { readonly connected: boolean; readonly since: number };
  #bgp: BgpFollower | undefined;

  constructor(options: MemberOptions) {
    const { config, nodeName, world, random } = options;
    const { store, files, clock } = world;
    const identity = openIdentity(files, nodeName, random);
    this.#options = options;
    this.#connected = { connected: false, since: clock.now() };
    this.#savedState = openSavedStateFile(files, nodeName, identity.instance);
    this.keys = keysBelow(config.root);
    this.cache = world.openCache({ store, keys: this.keys, log: options.log });
    this.peerLeases = createPeerLeases(options, this.cache);
    this.registration = createRegistration(options, identity, {
      describe: () => this.#follower.describe(),
      noteWritten: (key, node, revision) => this.cache.note(key, node, revision),
    });
    this.addressing = createAddressing(options, identity, {
      cache: this.cache,
      savedState: this.#savedState,
      taken: () => (this.#parts?.networks ?? []).flatMap(({ taken }) => taken.flatMap(prefixesOf)),
    });
    this.#controllers = createController(options);
    this.objects = createObjects(options);
    this.podRecords = createPodRecords(options);
    this.pools = createClusterPools({ cache: this.cache, remembered: this.#savedState.read()?.pools ?? [] });
    this.#owners = createBlockOwners(this.cache);
    this.#others = createOthersAddresses({
      cache: this.cache,
      nodeName,
      affinities: () => this.addressing.affinities().map(({ cidr }) => cidr),
      storeAddresses: () => world.storeAddresses?.() ?? [],
    });
    this.peers = this.#createPeers();
    this.#sync = this.#createSync();
    this.#follower = new ClusterFollower({
      ...options,
      identity,
      addressing: this.addressing,
      pools: this.pools,
      ...{ others: this.#others, registration: this.registration },
      subnetsOf: (network) => this.subnetsOf(network),
      storedFacts: () => this.cache.nodes.get(options.nodeName)?.value.facts,
      stopped: this.#stopped.signal,
      changed: () => this.followSoon(),
    });
    this.#joining = this.#createJoining();
  }

  get identity(): Identity {
    return this.#follower.identity;
  }

  get facts(): ClusterFacts {
    return this.#follower.facts;
  }

  get labels(): Readonly<Record<string, string>> {
    return this.#options.config.labels;
  }

  get connection(): ClusterMember['connection'] {
    const { connected, since } = this.#connected;
    return { kind: this.#options.world.store.kind, connected, since: new Date(since).toISOString() };
  }

  get controller(): ClusterMember['controller'] {
    const leading = this.#controllers?.metrics().leading ?? false;
    return { enabled: this.#options.config.controller, leading };
  }

  get bgp(): BgpFollower | undefined {
    return this.#bgp;
  }

  blockSource(network: string): BlockSource {
    return this.addressing.source(network);
  }

  get objectsInForce(): Revision | undefined {
    const { models } = this.#options;
    return models.some(({ objects }) => objects !== undefined) ? this.#inForce.revision : undefined;
  }

  notePodsFollowed(revision: Revision): void {
    this.#inForce.notePods(revision);
  }

  onObjectsInForce(listener: () => void): void {
    this.#inForce.onChange(listener);
  }

  subnetsOf(network: Pick<Network, 'model' | 'view'>): readonly string[] {
    return readSubnets(network, this.#options.nodeName, this.#options.desired.read);
  }

  requireUnfenced(): void {
    if (this.#joining.obstacle !== undefined) throw this.#joining.obstacle;
    const { state } = this.registration;
    if (state.kind === 'taken') throw state.error;
    this.addressing.requireUnfenced();
  }

  provide(need: Need, signal: AbortSignal): Promise<void> {
    return this.addressing.provide(need, signal);
  }

  noteUsed(record: EndpointRecord): void {
    const held = describeHeld(this.#parts?.networks ?? [], record);
    if (held !== undefined) return this.podRecords?.hold(record.id, held);
    const owner = endpointKey(record.id);
    const pod = podName(record);
    const addresses = record.leases.map(({ address }) => address);
    for (const address of addresses) {
      this.addressing.noteUsed(compact({ address, owner, pod, since: record.createdAt }));
    }
    const workload = this.#workloadOf(record);
    if (workload !== undefined) this.addressing.noteAssigned(...workload, addresses);
  }

  noteFree(record: EndpointRecord): void {
    this.podRecords?.release((owner) => endpointKey(owner) === endpointKey(record.id));
    for (const { address } of record.leases) this.addressing.noteFree(address);
    const workload = this.#workloadOf(record);
    // The addresses of another endpoint of the pod stay the pod's.
    if (workload !== undefined && !this.#hasOtherEndpoint(record))
      this.addressing.noteUnassigned(...workload);
  }

  async join(parts: FollowingParts): Promise<void> {
    this.#parts = parts;
    // Other addresses are in no block, and nothing of them is lent.
    for (const { view, ipam, model } of parts.networks)
      if (allocatesFromPools(model)) this.addressing.attach(view.name, ipam);
    const { signal } = this.#stopped;
    // Views of peers follow from both.
    Promise.all([this.cache.synced, this.objects.until(() => this.objects.areKnown, signal)]).then(
      () => this.#applySnapshot(),
      () => undefined,
    );
    this.cache.onChange((change) => this.#applyChange(change));
    this.addressing.onChange(() => this.followSoon());
    this.objects.onChange((names) => this.#noteObjects(names));
    this.registration.start();
    const { world, log } = this.#options;
    const watching = watchState({
      subject: () => this.facts.underlay?.link,
      read: world.readLinkState,
      changed: () => parts.loop.nudge(),
      clock: world.clock,
      log,
      signal: this.#stopped.signal,
    });
    this.#background.push(this.#runController(), watching, this.objects.follow(this.#stopped.signal));
    this.#bgp = this.#startBgp();
    await this.#joining.run(parts);
  }

  prepareReconcile(): void {
    if (this.#joining.obstacle !== undefined) throw this.#joining.obstacle;
    if (this.#parts === undefined) return;
    this.#follower.discoverUnderlay(this.#parts.node.host);
    this.#refreshOthers();
    this.#follower.follow(this.#parts);
    requireSubnets(this.#parts.networks, this.facts);
  }

  followSoon(): void {
    this.#sync.add(syncKey);
  }

  problems(): string[] {
    return [
      ...this.#follower.problems,
      ...describeRefusal(this.registration),
      ...this.pools.lost.map(
        ({ name, cidr }) =>
          `POOL_UNKNOWN: the pool ${name} (${cidr}) was deleted while blocks of it are in use`,
      ),
      ...this.peers.conflicts(),
      ...this.objects.problems,
      ...(this.#controllers?.problems() ?? []).slice(0, mostProblems),
      ...[...this.cache.unreadable].map(([key, reason]) => `OBJECT_INVALID: ${key}: ${reason}`),
    ];
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async stop(): Promise<void> {
    this.#stopped.abort(new PodwireError('AGENT_NOT_READY', 'the agent is stopping'));
    await this.#sync.stop();
    await Promise.all(this.#background);
    await this.#bgp?.stop();
    const flush = (signal: AbortSignal): Promise<void> => this.addressing.flush(signal);
    await withDeadline(undefined, flushDeadline, flush).catch((err: unknown) =>
      this.#options.log.warn({ err }, 'the last report did not reach the store'),
    );
    await this.addressing.stop();
    await this.podRecords?.stop();
    await this.registration.stop();
    await this.peerLeases.close();
    await this.cache.close();
  }

  #createPeers(): Peers {
    const { world, nodeName, desired, log } = this.#options;
    return new Peers({
      desired,
      // Before the first snapshot, the journal of the earlier life is all there is.
      viewOf: (name) => (this.#isSynced ? this.#viewPeer(name) : this.peers.known.get(name)),
      journal: openPeerJournal(world.files, nodeName, log),
      isSynced: () => this.#isSynced,
      // A reconcile may now prune what belongs to no peer.
      onKnown: () => this.#parts?.loop.nudge(),
      log,
    });
  }

  #viewPeer(name: string): PeerView | undefined {
    const peer = viewPeer(this.cache, name);
    if (peer === undefined) return undefined;
    const { read } = this.#options.desired;
    const subnets = (this.#parts?.networks ?? []).flatMap((network) => readSubnets(network, name, read));
    return { ...peer, blocks: [...peer.blocks, ...subnets] };
  }

  #createSync(): Workqueue<typeof syncKey> {
    const { world, log } = this.#options;
    return new Workqueue({
      reconcile: (_, signal) => this.#syncNode(signal),
      onError: (err) => log.error({ err }, 'the node could not follow the cluster; it is tried again'),
      clock: world.clock,
      delay: syncDelay,
      backoff: { first: retryAfter, longest: retryAfter },
      holdBackoff: true,
    });
  }

  #createJoining(): Joining {
    const { world, log, readHost } = this.#options;
    return new Joining({
      follower: this.#follower,
      readHost,
      registration: this.registration,
      cache: this.cache,
      addressing: this.addressing,
      savedState: this.#savedState,
      clock: world.clock,
      log,
      stopped: this.#stopped.signal,
      onKnown: ({ endpoints }) => {
        for (const record of endpoints.all()) this.noteUsed(record);
        this.peers.adopt();
        this.podRecords?.compareSoon();
      },
    });
  }

  async #syncNode(signal: AbortSignal): Promise<void> {
    const parts = this.#parts;
    // The reconcile that makes the node ready does all of this.
    if (parts === undefined || !parts.readiness.ready) return;
    const { engine, node, loop } = parts;
    const { revision } = this.objects;
    const isDone = await node.exclusively(signal, async () => {
      this.#follower.follow(parts);
      if (!(await node.sync(engine, { signal }))) return false;
      await this.peers.flush(engine, { signal });
      this.#follower.publish(parts);
      return true;
    });
    if (isDone) this.#inForce.noteNode(revision);
    else loop.nudge();
    for (const listener of [...this.#listeners]) listener();
  }

  #noteObjects(names: readonly FactName[]): void {
    const { desired, models } = this.#options;
    desired.planner.noteChanged(names);
    this.#markPeers(listSubnetOwners(models, names));
    // The subnet of the node may be all that it was waiting for.
    if (this.#parts?.readiness.ready === false) this.#parts.loop.nudge();
    this.followSoon();
  }

  #noteConnection(): void {
    const { connected } = this.cache;
    if (connected === this.#connected.connected) return;
    this.#connected = { connected, since: this.#options.world.clock.now() };
    // A store may come back as it was earlier.
    if (connected && this.#isSynced) this.podRecords?.compareSoon();
  }

  #applyChange({ pools: changedPools, blocks, nodes }: CacheChange): void {
    this.#noteConnection();
    this.peerLeases.noteNodes(nodes);
    if (!this.#isSynced) return;
    if (changedPools.size > 0 || (blocks.size > 0 && this.pools.lost.length > 0)) this.pools.refresh();
    this.#refreshOthers(changedPools.size > 0 ? undefined : nodes);
    this.#markPeers(nodes);
    this.#markPeers(this.#owners.affected(blocks));
    this.followSoon();
  }

  #applySnapshot(): void {
    this.#noteConnection();
    this.#isSynced = true;
    this.pools.refresh();
    this.#refreshOthers();
    this.#owners.affected(this.cache.blocks.keys());
    this.#markPeers(this.peers.known.keys());
    this.#markPeers(this.cache.nodes.keys());
    this.followSoon();
  }

  /** @param nodes that have changed; absent: any */
  #refreshOthers(nodes?: Iterable<string>): void {
    if (this.#others.refresh(nodes)) this.#parts?.node.noteUses();
  }

  #markPeers(names: Iterable<string>): void {
    for (const name of names) if (name !== this.#options.nodeName) this.peers.markChanged(name);
  }

  /** Campaigns for the leadership of the controllers for as long as the agent runs. */
  async #runController(): Promise<void> {
    const { world, log } = this.#options;
    const { signal } = this.#stopped;
    while (this.#controllers !== undefined && !signal.aborted) {
      try {
        await this.#controllers.run(signal);
      } catch (err) {
        if (signal.aborted) return;
        log.error({ err }, 'the controller has ended; it is started again');
        await pause(world.clock, controllerPause, signal);
      }
    }
  }

  #startBgp(): BgpFollower | undefined {
    const { config, nodeName, world, log } = this.#options;
    if (config.bgp === undefined || world.bgp === undefined) return undefined;
    return followBgp({
      config: config.bgp,
      nodeName,
      member: this,
      daemon: world.bgp,
      clock: world.clock,
      log,
    });
  }

  /** The network and the pod, if its workload has addresses. */
  #workloadOf({ pod, endpoint }: EndpointRecord): [network: string, pod: PodName] | undefined {
    const name = fullName(pod);
    if (name === undefined || !this.addressing.hasWorkload(endpoint.network, name)) return undefined;
    return [endpoint.network, name];
  }

  #hasOtherEndpoint({ id, pod, endpoint }: EndpointRecord): boolean {
    const all = this.#parts?.endpoints.find(podName({ pod })!) ?? [];
    return all.some(
      (each) => each.endpoint.network === endpoint.network && endpointKey(each.id) !== endpointKey(id),
    );
  }
}

const prefixesOf = ({ taken = [] }: PoolSpec): Prefix[] => taken.map(({ cidr }) => parsePrefix(cidr));

/** Why the store refuses this node. A store that does not answer is shown as not connected. */
function describeRefusal({ state }: Registration): string[] {
  if (state.kind !== 'away' || !(state.error instanceof PodwireError)) return [];
  const { code, message } = state.error;
  return ['STORE_UNAVAILABLE', 'STORE_LEASE_LOST'].includes(code) ? [] : [`${code}: ${message}`];
}
