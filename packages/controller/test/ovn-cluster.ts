/** Real etcd, a real northbound database with ovn-northd, and controllers of them. */
import {
  keysBelow,
  type Node,
  nodeKind,
  nodeLeaseKind,
  ovnPodKind,
  type OvnPodRecord,
} from '@podwire/cluster-state';
import { type AnyObject, checkObject, createStoreSource, type ObjectSource } from '@podwire/objects';
import { silentLog, systemClock } from '@podwire/platform';
import { decodeObject, encodeObject, openStore, type Store } from '@podwire/store';
import { type Etcd, startEtcd } from '@podwire/testkit/etcd';
import { OvnCentral } from '@podwire/testkit/ovn';
import { createOvnController, type OvnController } from '../src/index.js';

export interface RunningController {
  readonly controller: OvnController;
  stop(): Promise<void>;
}

export class OvnCluster {
  readonly central: OvnCentral;
  readonly store: Store;
  readonly source: ObjectSource;
  readonly #etcd: Etcd;
  readonly #keys = keysBelow('/podwire');
  readonly #running = new Set<RunningController>();

  private constructor(central: OvnCentral, etcd: Etcd, store: Store) {
    this.central = central;
    this.store = store;
    this.#etcd = etcd;
    this.source = createStoreSource({ store, root: this.#keys.root, clock: systemClock });
  }

  static async start(): Promise<OvnCluster> {
    const etcd = await startEtcd({});
    const central = await OvnCentral.start();
    const store = await openStore(etcd.spec, { log: silentLog, clock: systemClock });
    return new OvnCluster(central, etcd, store);
  }

  /** @param northbound endpoints of another database than that of {@link central} */
  startController(
    name: string,
    northbound: readonly string[] = [this.central.northbound.endpoint],
  ): RunningController {
    const stopped = new AbortController();
    const controller = createOvnController({
      ...{ store: this.store, keys: this.#keys, clock: systemClock, log: silentLog, name, ttl: 2_000 },
      northbound,
    });
    const end = controller.run(stopped.signal);
    const one: RunningController = {
      controller,
      stop: async () => {
        this.#running.delete(one);
        stopped.abort();
        await end;
      },
    };
    this.#running.add(one);
    return one;
  }

  async apply(kind: string, name: string, spec: Readonly<Record<string, unknown>>): Promise<void> {
    const checked = checkObject({ apiVersion: 'kubeovn.io/v1', kind, metadata: { name }, spec });
    if (!checked.ok) throw new Error(JSON.stringify(checked.problems));
    await this.source.save(checked.object, undefined);
  }

  async get<T extends AnyObject>(kind: string, name: string): Promise<T | undefined> {
    const found = await this.source.get({ apiVersion: 'kubeovn.io/v1', kind, name });
    return found?.object as T | undefined;
  }

  /** Where both are, for programs. */
  get places() {
    return { store: this.#etcd.spec, northbound: [this.central.northbound.endpoint] };
  }

  /** Takes the lead from a controller that was killed: others need not wait until its lease ends. */
  async endLead(): Promise<void> {
    await this.store.delete(this.#keys.ovnLeader);
  }

  delete(kind: string, name: string) {
    return this.source.delete({ apiVersion: 'kubeovn.io/v1', kind, name });
  }

  /** As an agent registers it. */
  async addNode(number: number): Promise<void> {
    const name = `n${number}`;
    const node: Node = {
      ...{ name, instance: `${name}-1`, version: '0.1.0', labels: {}, mtu: 1500, registeredAt: 0 },
      addresses: { ipv4: `192.0.2.${number}/24` },
    };
    await this.store.put(this.#keys.node(name), encodeObject(nodeKind, node));
    await this.connectNode(number);
  }

  async connectNode(number: number): Promise<void> {
    const lease = encodeObject(nodeLeaseKind, { node: `n${number}`, instance: `n${number}-1`, since: 0 });
    await this.store.put(this.#keys.nodeLease(`n${number}`), lease);
  }

  /** Its agent is not connected any more. */
  async disconnectNode(number: number): Promise<void> {
    await this.store.delete(this.#keys.nodeLease(`n${number}`));
  }

  async removeNode(number: number): Promise<void> {
    await this.disconnectNode(number);
    await this.store.delete(this.#keys.node(`n${number}`));
  }

  /** As the program that runs the pod does it. */
  async addPod(namespace: string, name: string, rest: Partial<OvnPodRecord> = {}): Promise<void> {
    const record: OvnPodRecord = { ...{ namespace, name, uid: `${name}-1`, annotations: {} }, ...rest };
    await this.store.put(this.#keys.ovnPod(namespace, name), encodeObject(ovnPodKind, record));
  }

  async removePod(namespace: string, name: string): Promise<void> {
    await this.store.delete(this.#keys.ovnPod(namespace, name));
  }

  /** An annotation that the controller has answered with, by the end of its name. */
  async answerOf(namespace: string, name: string, annotation: string): Promise<string | undefined> {
    const key = this.#keys.ovnPod(namespace, name);
    const { value = '' } = (await this.store.get(key)) ?? {};
    return decodeObject(ovnPodKind, key, value).annotations[`ovn.kubernetes.io/${annotation}`];
  }

  /** Values of one column, in order. */
  async list(table: string, column = 'name'): Promise<readonly string[]> {
    const text = await this.central.nbctl('--bare', '--no-headings', `--columns=${column}`, 'list', table);
    return text
      .split(/\n+/)
      .filter((line) => line !== '')
      .sort();
  }

  async close(): Promise<void> {
    for (const one of [...this.#running]) await one.stop();
    await this.store.close();
    await this.central.close();
    await this.#etcd.close();
  }
}
