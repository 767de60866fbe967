/** Machines with real agents, one real etcd, and OVN with its central part: networks of the model ovn. */
import path from 'node:path';
import {
  type AnyObject,
  decodeStoredObject,
  encodeStoredObject,
  objectKey,
  type ObjectReference,
  referenceOf,
} from '@podwire/objects';
import { type ClusterHost, defaultAgentEntry, type RunningProcess } from '@podwire/testkit';
import { cableOf, layCable, OvnCentral, OvnNode } from '@podwire/testkit/ovn';
import { createFixture, type Fixture, keys } from './cluster-fixture.js';

export interface OvnFixture extends Fixture {
  readonly central: OvnCentral;
  readonly nodes: readonly OvnNode[];
  /** Past all code under test. */
  apply(object: AnyObject): Promise<void>;
  read(reference: ObjectReference): Promise<AnyObject | undefined>;
  /** The process that writes the northbound database; it is running at first. */
  startController(more?: ControllerOptions): Promise<void>;
  killController(): Promise<void>;
}

export interface ControllerOptions {
  /** In the middle of the cluster when absent. */
  readonly host?: ClusterHost;
  /** More of its command line. */
  readonly flags?: readonly string[];
}

export interface OvnFixtureOptions {
  /** More of the command line of the controller. */
  readonly controller?: readonly string[];
  /** More of the configuration of the agents. */
  readonly config?: object;
}

const options = { datapath: 'netdev' } as const;
/** A leader that was killed is replaced soon. */
const usual = [
  ...['--lease', '2s'],
  ...['--join-cidr', '100.64.0.0/16,fd00:100:64::/112'],
  ...['--pod-cidr', '10.16.0.0/16,fd00:10:16::/112'],
];

/** A reference to an object of Kube-OVN. */
export const referTo = (kind: string, name: string): ObjectReference => ({
  ...{ apiVersion: 'kubeovn.io/v1', kind, name },
});

/** Two machines. Tunnels go through a cable of their own, since the switch has both ends of it. */
export async function createOvnFixture(
  name: string,
  { controller: flags = [], config = {} }: OvnFixtureOptions = {},
): Promise<OvnFixture> {
  const central = await OvnCentral.start();
  const nodes: OvnNode[] = [];
  let cable: Promise<void> | undefined;
  const fixture = await createFixture({
    ...{ name, hosts: 2, pools: [] },
    config: { networks: [{ name: 'default', model: 'ovn', options }], ...config },
    async prepare(host, index, { hosts }) {
      await (cable ??= layCable(hosts));
      const node = await startNode(host, index, central);
      nodes[index] = node;
      return {
        openvswitch: { runDir: node.switch.runDir },
        cluster: { address: cableOf(index).ipv4.split('/')[0] },
        kubeOvnCni: kubeOvnCniOf(host),
      };
    },
  }).catch(async (error: unknown) => {
    await central.close();
    throw error;
  });
  let controller: RunningProcess | undefined;
  const startController = async (more: ControllerOptions = {}): Promise<void> => {
    const store = `etcd://${fixture.etcd.spec.endpoints.map((each) => new URL(each).host).join(',')}`;
    const own = ['controller', '--store', store, '--northbound', central.northbound.endpoint];
    const command = [...podwire, ...own, ...usual, ...flags, ...(more.flags ?? [])];
    controller = (more.host ?? fixture.hosts.middle).start(command);
    await controller.waitForOutput(/"msg":"leads"/);
  };
  const killController = async (): Promise<void> => {
    controller?.kill('SIGKILL');
    await controller?.exited;
  };
  const close = async (): Promise<void> => {
    await killController();
    await fixture.close().finally(() => central.close());
  };
  await startController();
  return {
    ...{ ...fixture, central, nodes, startController, killController, close },
    async apply(object) {
      const key = objectKey(keys.root, referenceOf(object));
      await fixture.etcd.control(['put', key, encodeStoredObject(object, undefined, 0)]);
    },
    async read(reference) {
      const key = objectKey(keys.root, reference);
      const value = (await fixture.etcd.control(['get', key, '--print-value-only'])).trim();
      if (value === '') return undefined;
      return decodeStoredObject(keys.root, { key, value, revision: 0 }).stored?.object;
    },
  };
}

/** Places of Kube-OVN's plugin for a machine: below its directory. */
export const kubeOvnCniOf = ({ directory }: Pick<ClusterHost, 'directory'>) => ({
  socket: path.join(directory, 'kube-ovn/daemon.sock'),
  networkConfigDir: path.join(directory, 'net.d'),
});

const podwire = defaultAgentEntry.slice(0, 1).map((entry) => path.resolve(entry));

async function startNode(host: ClusterHost, index: number, central: OvnCentral): Promise<OvnNode> {
  const node = await OvnNode.start({ name: `n${index + 1}`, host, central, cable: cableOf(index) });
  host.defer(() => node.close());
  return node;
}
