/** A node's own part and its peers on a kernel, while anything happens in the cluster around it. */
import { createLinuxBackends, type Kernel } from '@podwire/backend-linux';
import { DesiredState, failuresOf } from '@podwire/desired-state';
import { createEngine, type Engine, type Owned } from '@podwire/engine';
import {
  addAddressRequest,
  createLinkRequest,
  getLinkRequest,
  decodeLink,
  type Link,
  listAddresses,
  listForwardingEntries,
  listLinks,
  listNeighbours,
  listRoutes,
  type NetlinkConnection,
  setLinkRequest,
} from '@podwire/netlink';
import type { PeerView, PoolView, UnderlayView } from '@podwire/network-contract';
import { silentLog } from '@podwire/platform';
import { openPeerJournal } from '../../src/cluster/peer-journal.js';
import { planPeer } from '../../src/cluster/peer-plan.js';
import { Peers } from '../../src/cluster/peers.js';
import type { Network } from '../../src/networks.js';
import { networkModels } from '../../src/models.js';
import { NodeState } from '../../src/node/node.js';
import { besideNode } from '../../src/node/scope-kinds.js';
import { createMemoryFiles } from './cluster.js';
import { ordinaryHost } from './harness.js';

/** Node 0 is this one. */
export const nodeCount = 4;
export const blockCount = 5;

/** Events that may happen. Numbers are taken modulo what there is. */
export type Happening =
  | { readonly kind: 'move-block'; readonly block: number; readonly to: number }
  | { readonly kind: 'split-block'; readonly block: number }
  | { readonly kind: 'lend'; readonly block: number; readonly address: number; readonly to: number }
  | { readonly kind: 'readdress'; readonly node: number; readonly place: number }
  | { readonly kind: 'retunnel'; readonly node: number; readonly block: number }
  | { readonly kind: 'come-or-go'; readonly node: number }
  | { readonly kind: 'encapsulate'; readonly how: NonNullable<PoolView['encapsulation']> }
  /** The kernel follows, and is interrupted before so many calls. */
  | { readonly kind: 'settle'; readonly calls: number }
  | { readonly kind: 'reconcile' }
  | { readonly kind: 'restart' };

interface Member {
  isThere: boolean;
  place: number;
  /** The block that its end of the tunnel is of. */
  tunnel: number | undefined;
}

/** The last one is on another segment. */
const places = ['192.0.2.11/24', '192.0.2.12/24', '192.0.2.13/24', '198.51.100.14/24'];

export class PeerWorld {
  readonly #kernel: Kernel;
  readonly #engine: Engine;
  readonly #members: Member[] = Array.from({ length: nodeCount }, (_, place) => ({
    isThere: true,
    place,
    tunnel: undefined,
  }));
  /** By block. */
  readonly #owners: number[] = Array.from({ length: blockCount }, () => -1);
  readonly #isSplit: boolean[] = Array.from({ length: blockCount }, () => false);
  /** `BLOCK/ADDRESS` */
  readonly #loans = new Map<string, number>();
  readonly #files = createMemoryFiles();
  #encapsulation: NonNullable<PoolView['encapsulation']> = 'vxlan';
  #texts = new Map<string, string>();
  #network!: Network;
  #node!: NodeState;
  #peers!: Peers;
  #desired!: DesiredState;

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
    this.#engine = createEngine({ backends: createLinuxBackends(kernel) });
    makeUplink(kernel.host.route);
  }

  async start(): Promise<void> {
    this.#network = this.#makeNetwork();
    this.#desired = new DesiredState({ kinds: this.#engine.kinds, log: silentLog });
    this.#node = this.#makeNode(this.#desired);
    this.#peers = new Peers({
      desired: this.#desired,
      viewOf: (name) => this.#viewOf(Number(name.slice(1))),
      isSynced: () => true,
      onKnown: () => undefined,
      journal: openPeerJournal(this.#files, 'own', silentLog),
      log: silentLog,
    });
    this.#peers.adopt();
    await this.#reconcile();
    this.#texts.clear();
    this.#mark();
    for (const name of this.#peers.known.keys()) this.#peers.markChanged(name);
  }

  async happen(happening: Happening): Promise<void> {
    switch (happening.kind) {
      case 'settle':
        return await this.#settle(happening.calls);
      case 'reconcile':
        return await this.#reconcile();
      case 'restart':
        return await this.start();
      default:
        this.#change(happening);
        this.#mark();
    }
  }

  /** Until the kernel follows without being interrupted. */
  settle = async (): Promise<void> => this.#settle(Infinity);

  /** Content of a kernel that got everything from one reconcile. */
  async makeAfresh(kernel: Kernel): Promise<string[]> {
    makeUplink(kernel.host.route);
    const engine = createEngine({ backends: createLinuxBackends(kernel) });
    const side = { model: this.#network.model, view: this.#node.view(this.#network) };
    const peers = this.#members.flatMap((_, number): Owned[] => {
      const view = this.#viewOf(number);
      return view === undefined ? [] : [{ owner: `peer:${view.name}`, resources: planPeer([side], view) }];
    });
    await engine.reconcile([this.#node.owned(), ...peers], { signal: new AbortController().signal });
    return pictureOf(kernel);
  }

  picture = (): string[] => pictureOf(this.#kernel);

  /** Resources that are known to be there, in the kernel or not. */
  async drift(): Promise<string[]> {
    const lists = [this.#node.owned(), ...this.#desired.owned(besideNode)];
    const found = await Promise.all(
      lists.map(async (owned) => this.#engine.verify(owned, { signal: new AbortController().signal })),
    );
    return found.flat().map(({ detail }) => detail);
  }

  close = async (): Promise<void> => this.#engine.close();

  #change(happening: Exclude<Happening, { kind: 'settle' | 'reconcile' | 'restart' }>): void {
    switch (happening.kind) {
      case 'move-block':
        return this.#moveBlock(happening.block, happening.to);
      case 'split-block':
        this.#isSplit[happening.block] = !this.#isSplit[happening.block];
        return;
      case 'lend': {
        const key = `${happening.block}/${happening.address}`;
        if (happening.to < 0) this.#loans.delete(key);
        else this.#loans.set(key, happening.to);
        return;
      }
      case 'readdress':
        this.#members[happening.node]!.place = happening.place;
        return;
      case 'retunnel':
        if (this.#owners[happening.block] === happening.node)
          this.#members[happening.node]!.tunnel = happening.block;
        return;
      case 'come-or-go': {
        const member = this.#members[happening.node]!;
        if (happening.node !== 0) member.isThere = !member.isThere;
        return;
      }
      case 'encapsulate':
        this.#encapsulation = happening.how;
        this.#network = this.#makeNetwork();
    }
  }

  /** No node keeps a tunnel address in a block that it does not hold. */
  #moveBlock(block: number, to: number): void {
    const before = this.#members[this.#owners[block]!];
    this.#owners[block] = to;
    if (before?.tunnel !== block) return;
    const others = this.#blocksOf(this.#members.indexOf(before));
    before.tunnel = others[0];
  }

  #blocksOf = (node: number): number[] =>
    this.#owners.flatMap((owner, block) => (owner === node ? [block] : []));

  #prefixesOf(node: number): string[] {
    return this.#blocksOf(node).flatMap((block) => [
      ...(this.#isSplit[block]
        ? [`10.244.${block}.0/27`, `10.244.${block}.32/27`]
        : [`10.244.${block}.0/26`]),
      `fd00:244:0:${block + 1}::/122`,
    ]);
  }

  #tunnelOf(node: number) {
    const { tunnel } = this.#members[node]!;
    const mac = networkModels[0].nodeIdentity!(`n${node}`).tunnelMac;
    return tunnel === undefined
      ? { mac }
      : { mac, ipv4: `10.244.${tunnel}.0`, ipv6: `fd00:244:0:${tunnel + 1}::` };
  }

  #viewOf(node: number): PeerView | undefined {
    const { isThere, place } = this.#members[node]!;
    if (!isThere || node === 0) return undefined;
    const loans = [...this.#loans].filter(([, to]) => to === node);
    return {
      name: `n${node}`,
      ipv4: places[place]!,
      mtu: 1500,
      tunnel: this.#tunnelOf(node),
      blocks: [...this.#prefixesOf(node), ...loans.map(([key]) => `10.244.${key.replace('/', '.')}/32`)],
    };
  }

  #mark(): void {
    const texts = new Map(
      this.#members.map((_, node) => [`n${node}`, JSON.stringify(this.#viewOf(node))] as const),
    );
    for (const [name, text] of texts)
      if (text !== this.#texts.get(name) && name !== 'n0') this.#peers.markChanged(name);
    this.#texts = new Map([...texts].filter(([name]) => name !== 'n0'));
  }

  #makeNetwork(): Network {
    const common = { natOutgoing: true, encapsulation: this.#encapsulation };
    const none: readonly string[] = [];
    return {
      view: {
        name: 'default',
        model: 'routed',
        pools: [
          { name: 'four', cidr: '10.244.0.0/16', ...common },
          { name: 'six', cidr: 'fd00:244::/48', ...common },
        ],
      },
      mtu: undefined,
      model: networkModels[0],
      ipam: { blocks: () => none },
      setUses: () => undefined,
      taken: [],
    } as unknown as Network;
  }

  #makeNode(desired: DesiredState): NodeState {
    const underlay: UnderlayView = { link: 'eth0', mtu: 1500, ipv4: '192.0.2.1/24' };
    const facts = {
      underlay,
      otherPools: [],
      uses: [],
      blocksOf: () => this.#prefixesOf(0),
      tunnel: this.#tunnelOf(0),
    };
    Object.defineProperty(facts, 'tunnel', { get: () => this.#tunnelOf(0) });
    // The pools of a network change under the node's eyes.
    const network = (): Network => this.#network;
    const networks = [new Proxy({} as Network, { get: (_, key) => Reflect.get(network(), key) as unknown })];
    return new NodeState({
      name: 'n0',
      networks,
      kinds: this.#engine.kinds,
      desired,
      readHost: () => ordinaryHost,
      cluster: facts,
    });
  }

  /** As the member of a cluster does it. */
  async #settle(calls: number): Promise<void> {
    const given = new AbortController();
    let left = calls;
    const counted = async (work: () => Promise<void>): Promise<void> => {
      if (left-- <= 0) given.abort(new Error('interrupted'));
      given.signal.throwIfAborted();
      await work();
    };
    const engine: Engine = {
      ...this.#engine,
      change: async (owner, change, options) =>
        counted(async () => this.#engine.change(owner, change, options)),
    };
    try {
      const options = { signal: given.signal };
      if (await this.#node.sync(engine, options)) await this.#peers.flush(engine, options);
      else await this.#reconcile();
    } catch (error) {
      if (!given.signal.aborted) throw error;
    }
  }

  /** As reconcile.ts does it. */
  async #reconcile(): Promise<void> {
    const { signal } = new AbortController();
    const round = this.#engine.startReconcile(() => [this.#node.owned(), ...this.#desired.owned(besideNode)]);
    await this.#node.repair(async (owned) => {
      const changes = await round.repair([owned], { signal });
      return changes.every(({ action }) => action !== 'failed');
    });
    const changes = await round.repair(this.#desired.owned(besideNode), { signal });
    this.#desired.noteReconciled(failuresOf(changes), besideNode);
    await this.#peers.flush(this.#engine, { signal });
    await round.finish({ signal });
  }
}

export function makeUplink(route: NetlinkConnection): void {
  route.request([
    createLinkRequest({ kind: 'ifb', name: 'eth0', up: true }),
    setLinkRequest('eth0', { addressGenerationMode: 'none' }),
  ]);
  route.request([addAddressRequest({ link: find(route, 'eth0').index, address: '192.0.2.1/24' })]);
}

const find = (route: NetlinkConnection, name: string): Link =>
  decodeLink(route.request([getLinkRequest(name)]).flat()[0]!);

/** Everything of the node's part and of peers, in words. */
function pictureOf({ host: { route }, nftables }: Kernel): string[] {
  const names = new Map(listLinks(route).map(({ index, name }) => [index, name]));
  const [tunnel] = listLinks(route).filter(({ name }) => name === 'podwire-vx');
  const elements = [4, 6].flatMap((family) => {
    try {
      return nftables.listElements('inet', 'podwire', `tunnelpeers${family}`);
    } catch {
      return []; // not in this plan
    }
  });
  return [
    ...listRoutes(route, { protocol: 157 }).map(({ destination, type, gateway, link, onlink, metric }) =>
      JSON.stringify([destination, type, gateway, type === 'unicast' && names.get(link!), onlink, metric]),
    ),
    ...elements.map(({ key }) => `peer ${String(key[0]!.value)}`),
    `table ${nftables.tableDigest('inet', 'podwire')}`,
    ...(tunnel === undefined ? [] : pictureOfTunnel(route, tunnel)),
  ].sort();
}

function pictureOfTunnel(route: NetlinkConnection, { index: link, mac, mtu, up }: Link): string[] {
  return [
    `tunnel ${mac} ${mtu} ${up}`,
    ...listForwardingEntries(route, { link }).map((entry) => `fdb ${entry.mac} ${entry.remote}`),
    ...listNeighbours(route, { link })
      .filter(({ state }) => state === 'permanent')
      .map((entry) => `neighbour ${entry.address} ${entry.mac}`),
    ...listAddresses(route, { link }).map(({ address }) => `address ${address}`),
  ];
}
