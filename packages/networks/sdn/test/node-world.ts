/** Nodes with an Open vSwitch each, in namespaces, wired by the engine from the model's plans: no agent, no store. */
import { createLinuxBackends, openKernel } from '@podwire/backend-linux';
import { createFlowBackend } from '@podwire/backend-openflow';
import { createSwitchBackend } from '@podwire/backend-ovsdb';
import { DesiredState } from '@podwire/desired-state';
import {
  type Change,
  createEngine,
  type Engine,
  type NamespaceIdentity,
  type Resource,
} from '@podwire/engine';
import { openNamespace } from '@podwire/linux';
import type { PeerView, RouterBefore } from '@podwire/network-contract';
import { planNodeTraffic } from '@podwire/network-traffic';
import { openSwitch, type SwitchConnection } from '@podwire/openflow';
import { OvsdbClient } from '@podwire/ovsdb';
import type { Read } from '@podwire/planner';
import { silentLog } from '@podwire/platform';
import { createPrivateHost, type PrivateHost, type TestNamespace } from '@podwire/testkit';
import { OpenVSwitch } from '@podwire/testkit/openvswitch';
import { endpointOf, model, peerOf, viewOf } from './views.js';

export const call = () => ({ signal: AbortSignal.timeout(20_000) });

export interface WiredPod {
  readonly id: string;
  readonly namespace: TestNamespace;
  /** Of its node, from 0 on. */
  readonly index: number;
  readonly ip: string;
  /** The node's end. */
  readonly link: string;
}

/** The nodes forwarded nothing before the model came. */
const noRouter: RouterBefore = {
  ...{ forwarded: { 4: false, 6: false }, bridges: { 4: [], 6: [] }, advertised: [] },
};

/** A node of the cluster. Its switch has, before the model comes, the bridge `br-phy` with the uplink. */
export class WorldNode {
  readonly number: number;
  readonly host: PrivateHost;
  readonly switch: OpenVSwitch;
  readonly engine: Engine;
  readonly desired: DesiredState;
  /** Of its database. */
  readonly client: OvsdbClient;
  /** To its bridge; the last one that was opened. */
  connection: SwitchConnection | undefined;
  readonly #peers = new Map<string, PeerView>();
  readonly #pods = new Map<
    string,
    { readonly resources: readonly Resource[]; readonly namespace: NamespaceIdentity }
  >();

  private constructor(number: number, host: PrivateHost, own: OpenVSwitch) {
    this.number = number;
    this.host = host;
    this.switch = own;
    this.client = new OvsdbClient({ database: 'Open_vSwitch', endpoints: [own.database.endpoint] });
    this.engine = createEngine({
      backends: [
        ...createLinuxBackends(openKernel(host.namespace)),
        createSwitchBackend(this.client),
        createFlowBackend({
          bridges: ['br0'],
          open: async (bridge, options) =>
            (this.connection = await openSwitch(own.socketOf(bridge), options)),
        }),
      ],
    });
    this.desired = this.#plan();
  }

  static async start(number: number, host: PrivateHost): Promise<WorldNode> {
    const own = await OpenVSwitch.start(host.namespace);
    host.defer(() => own.close());
    // Tunnels of this datapath leave by a bridge that has the address itself, and find neighbours there.
    await own.vsctl(
      ...['add-br', 'br-phy', '--', 'set', 'Bridge', 'br-phy', 'datapath_type=netdev'],
      ...['--', 'add-port', 'br-phy', 'eth0'],
    );
    await host.namespace.ip(
      ...['link set eth0 up', 'link set br-phy addrgenmode none', 'link set br-phy up'],
      `addr add 192.0.2.${number}/24 dev br-phy`,
    );
    const node = new WorldNode(number, host, own);
    host.defer(() => node.engine.close());
    return node;
  }

  /** Has the node itself, and all that it knows of others. */
  async join(others: readonly number[]): Promise<void> {
    for (const other of others) {
      const peer = peerOf(other);
      this.#peers.set(peer.name, peer);
      this.desired.planner.markScope(`peer/${peer.name}`);
    }
    this.desired.planner.markScope('node');
    await this.follow();
  }

  async leave(): Promise<void> {
    this.#hasLeft = true;
    this.#peers.clear();
    for (const scope of this.desired.planner.scopes) this.desired.planner.markScope(scope);
    this.desired.planner.noteChanged(['sides-for-peers']);
    await this.follow();
  }

  #hasLeft = false;

  async follow(): Promise<void> {
    const { failed } = await this.desired.follow({ engine: this.engine, ...call() });
    if (failed.size > 0) throw new AggregateError(failed.values(), [...failed].map(String).join('\n'));
  }

  async addPod(index: number, vnid: number): Promise<WiredPod> {
    const namespace = this.host.addPod();
    const { id, ip, link, resources } = this.#planPod(index, vnid);
    this.#pods.set(id, { resources, namespace: identify(namespace) });
    try {
      await this.#applyPod(id);
    } catch (error) {
      this.#pods.delete(id);
      this.desired.noteUndone(`endpoint/${id}`);
      this.host.removePod(namespace);
      throw error;
    }
    return { id, index, namespace, ip, link };
  }

  /** The VNID of the pod's project is another one now. */
  async changeProject({ id, index }: WiredPod, vnid: number): Promise<void> {
    const { namespace } = this.#pods.get(id)!;
    this.#pods.set(id, { resources: this.#planPod(index, vnid).resources, namespace });
    await this.#applyPod(id);
  }

  async removePod({ id, namespace }: WiredPod): Promise<void> {
    const { namespace: identity } = this.#pods.get(id)!;
    this.#pods.delete(id);
    await this.#applyPod(id, identity);
    this.host.removePod(namespace);
  }

  async reconcile(): Promise<readonly Change[]> {
    const owned = this.desired.owned().map((one) => {
      const pod = this.#pods.get(one.owner.slice('endpoint/'.length));
      return pod === undefined ? one : { ...one, namespace: pod.namespace };
    });
    return this.engine.reconcile(owned, call());
  }

  get #view() {
    return { ...viewOf(this.number, { datapath: 'netdev' }), router: noRouter };
  }

  #planPod(index: number, vnid: number) {
    const endpoint = endpointOf(this.number, index, vnid);
    const read = (() => ({ netid: vnid })) as unknown as Read;
    const attachment = model.resolve!(endpoint.pod, this.#view.network, read);
    const { resources, links } = model.planEndpoint({ ...endpoint, attachment }, this.#view);
    return { id: endpoint.id.containerId, ip: endpoint.leases[0]!.address, link: links[0]!.name, resources };
  }

  async #applyPod(id: string, namespace = this.#pods.get(id)?.namespace): Promise<void> {
    const options = { engine: this.engine, ...call(), ...(namespace === undefined ? {} : { namespace }) };
    await this.desired.applyScope(`endpoint/${id}`, options);
  }

  #planTraffic(): Resource[] {
    return planNodeTraffic([this.#view], [], model.forwardingLinks);
  }

  #plan(): DesiredState {
    const desired = new DesiredState({ kinds: this.engine.kinds, log: silentLog });
    const sides = () => (this.#hasLeft ? [] : [{ model, view: this.#view }]);
    const planOwn = (): Resource[] => [...model.planNode(this.#view), ...this.#planTraffic()];
    desired.register({
      ...{ kind: 'node', ownerOf: () => 'node', plan: () => (this.#hasLeft ? undefined : planOwn()) },
      sources: {
        ...{ sides, 'sides-for-peers': sides },
        peers: () => new Set(this.#peers.keys()),
      },
    });
    desired.register({
      ...{ kind: 'peer', ownerOf: (name) => `peer/${name}` },
      plan: (name, read) => {
        const peer = read(`peer/${name}`);
        return peer === undefined ? undefined : model.planPeer(this.#view, peer);
      },
      sources: { peer: (name) => this.#peers.get(name) },
    });
    for (const scopes of model.scopes!)
      desired.register({ ...scopes, ownerOf: (id) => `${scopes.kind}/${id}` });
    desired.register({
      ...{ kind: 'endpoint', ownerOf: (id) => `endpoint/${id}` },
      plan: (id) => this.#pods.get(id)?.resources,
    });
    return desired;
  }
}

/** Two nodes on one wire. */
export async function createWorld(): Promise<readonly [WorldNode, WorldNode]> {
  const [one, two] = [await createPrivateHost({ name: 'sdn1' }), await createPrivateHost({ name: 'sdn2' })];
  try {
    await one.namespace.ip(`link add eth0 type veth peer name eth0 netns ${two.namespace.name}`);
    for (const { namespace } of [one, two]) await namespace.ip('link set eth0 addrgenmode none');
    return [await WorldNode.start(1, one), await WorldNode.start(2, two)];
  } catch (error) {
    await Promise.all([one, two].map((host) => host.close()));
    throw error;
  }
}

function identify(namespace: TestNamespace): NamespaceIdentity {
  const handle = openNamespace(namespace.path);
  const { path, device, inode } = handle;
  handle.close();
  return { path, device, inode };
}
