/** A store in memory, an API server that answers over HTTP, and controllers between them with a network that only takes notes. */
import { listDefaults } from '@podwire/cluster-ovn';
import { keysBelow, type Node, nodeKind, ovnPodKind, type OvnPodRecord } from '@podwire/cluster-state';
import { KubernetesClient } from '@podwire/kubernetes-client';
import { FakeApiServer } from '@podwire/kubernetes-client/testing';
import { checkObject, createStoreSource, type IP, type ObjectSource } from '@podwire/objects';
import { silentLog, systemClock } from '@podwire/platform';
import { decodeObject, encodeObject, type Store } from '@podwire/store';
import { createMemoryServer } from '@podwire/store/memory';
import { KubernetesSide } from '../src/ovn/kubernetes/kubernetes-side.js';
import { OvnLoop } from '../src/ovn/ovn-loop.js';
import { NotingNetwork } from './noting-network.js';

export const paths = {
  ...{ pods: '/api/v1/pods', namespaces: '/api/v1/namespaces', nodes: '/api/v1/nodes' },
  statefulSets: '/apis/apps/v1/statefulsets',
};

export interface PodOptions {
  readonly uid?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly node?: string;
  /** Name of its stateful set. */
  readonly set?: string;
  readonly hostNetwork?: boolean;
  readonly phase?: string;
}

const ownerOf = (name: string) => ({ apiVersion: 'apps/v1', kind: 'StatefulSet', name, controller: true });

/** As the API server has it, but for its version. */
export const podObject = (name: string, options: PodOptions = {}) => ({
  metadata: {
    ...{ name, namespace: 'shop', uid: options.uid ?? `${name}-1` },
    annotations: options.annotations ?? {},
    ownerReferences: options.set === undefined ? [] : [ownerOf(options.set)],
  },
  spec: { nodeName: options.node ?? 'n1', hostNetwork: options.hostNetwork ?? false },
  status: { phase: options.phase ?? 'Running' },
});

export interface Following {
  readonly network: NotingNetwork;
  readonly loop: OvnLoop;
  readonly side: KubernetesSide;
  stop(): Promise<void>;
}

const keys = keysBelow('/podwire');
const prefix = 'ovn.kubernetes.io/';

export class KubernetesCluster {
  readonly api = new FakeApiServer();
  readonly store: Store;
  readonly #server = createMemoryServer();
  readonly #running = new Set<Following>();
  readonly #clients: KubernetesClient[] = [];
  #url = '';

  constructor() {
    this.store = this.#server.connect();
    this.api.takesPatches = true;
    this.api.page = 500;
  }

  async start(): Promise<void> {
    this.#url = await this.api.start();
    this.addNamespace('shop');
  }

  /** As the leader does it. */
  follow(): Following {
    const client = new KubernetesClient({ server: this.#url, verify: true });
    this.#clients.push(client);
    const side = new KubernetesSide({ client, clock: systemClock, random: () => 0, log: silentLog });
    const network = new NotingNetwork(this.store);
    const access = { store: this.#server.connect(), keys, clock: systemClock };
    const loop = new OvnLoop({
      ...{ access, network, kubernetes: side, encapsulation: 'geneve', log: silentLog, writer: 'one/1' },
      defaults: listDefaults({ joinCidr: '100.64.0.0/16', defaultCidr: '10.16.0.0/24' }),
    });
    const end = new AbortController();
    const running = Promise.all([side.run(end.signal), loop.run(end.signal)]);
    const one: Following = {
      ...{ network, loop, side },
      stop: async () => {
        this.#running.delete(one);
        end.abort();
        await running;
      },
    };
    this.#running.add(one);
    return one;
  }

  addPod(name: string, options: PodOptions = {}): void {
    this.api.putAt(paths.pods, podObject(name, options));
  }

  removePod(name: string): void {
    this.api.remove(name);
  }

  async apply(kind: string, name: string, spec: Readonly<Record<string, unknown>>): Promise<void> {
    const checked = checkObject({ apiVersion: 'kubeovn.io/v1', kind, metadata: { name }, spec });
    if (!checked.ok) throw new Error(JSON.stringify(checked.problems));
    await this.#source.save(checked.object, undefined);
  }

  /** As an agent registers it. @param published by its model */
  async addNode(name: string, published: Readonly<Record<string, string>> = {}): Promise<void> {
    const node: Node = {
      ...{ name, instance: `${name}-1`, version: '0.1.0', labels: {}, mtu: 1500, registeredAt: 0 },
      ...{ addresses: { ipv4: '192.0.2.1/24' }, facts: { ovn: published } },
    };
    await this.store.put(keys.node(name), encodeObject(nodeKind, node));
  }

  addNamespace(name: string, annotations: Readonly<Record<string, string>> = {}): void {
    this.api.putAt(paths.namespaces, { metadata: { name, uid: name, annotations } });
  }

  /** @param replicas wanted, and there */
  setStatefulSet(name: string, replicas: number): void {
    const metadata = { name, namespace: 'shop', uid: name };
    this.api.putAt(paths.statefulSets, { metadata, spec: { replicas }, status: { replicas } });
  }

  async record(name: string): Promise<OvnPodRecord | undefined> {
    const key = keys.ovnPod('shop', name);
    const { value } = (await this.store.get(key)) ?? {};
    return value === undefined ? undefined : decodeObject(ovnPodKind, key, value);
  }

  /** As a node does it. */
  async putRecord(name: string, rest: Partial<OvnPodRecord> = {}): Promise<void> {
    const record: OvnPodRecord = {
      namespace: 'shop',
      name,
      uid: `${name}-1`,
      node: 'n1',
      annotations: {},
      ...rest,
    };
    await this.store.put(keys.ovnPod('shop', name), encodeObject(ovnPodKind, record));
  }

  putText(name: string, text: string) {
    return this.store.put(keys.ovnPod('shop', name), text);
  }

  async addressOf(name: string): Promise<string | undefined> {
    return (await this.record(name))?.annotations[`${prefix}ip_address`];
  }

  /** Annotations of Kube-OVN that an object of the API server has, by the ends of their names. */
  annotationsOf(name: string, path = paths.pods): Readonly<Record<string, string>> {
    const all = this.api.find(path, name)?.metadata['annotations'] as Record<string, string> | undefined;
    const own = Object.entries(all ?? {}).filter(([key]) => key.startsWith(prefix));
    return Object.fromEntries(own.map(([key, value]) => [key.slice(prefix.length), value]));
  }

  /** Names of IP objects. */
  async listIps(): Promise<string[]> {
    return (await this.#readIps()).map(({ metadata: { name } }) => name).sort();
  }

  /** Annotations of Kube-OVN that an IP object has. */
  async ratesOf(name: string): Promise<Readonly<Record<string, string>> | undefined> {
    const found = (await this.#readIps()).find(({ metadata }) => metadata.name === name);
    const own = Object.entries(found?.metadata.annotations ?? {}).filter(([key]) => key.startsWith(prefix));
    return found && Object.fromEntries(own);
  }

  get #source(): ObjectSource {
    return createStoreSource({ store: this.store, root: keys.root, clock: systemClock });
  }

  async #readIps(): Promise<IP[]> {
    const { objects } = await this.#source.list({ kinds: [{ apiVersion: 'kubeovn.io/v1', kind: 'IP' }] });
    return objects.map(({ object }) => object as unknown as IP);
  }

  async close(): Promise<void> {
    for (const one of [...this.#running]) await one.stop();
    for (const client of this.#clients) await client.close();
    this.api.close();
    await this.store.close();
  }
}
