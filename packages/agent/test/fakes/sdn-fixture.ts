/** Machines with real agents, one real etcd, and an Open vSwitch each: networks of the model sdn. */
import {
  type AnyObject,
  decodeStoredObject,
  encodeStoredObject,
  networkAnnotations,
  objectKey,
  type ObjectReference,
  referenceOf,
} from '@podwire/objects';
import type { ClusterHost } from '@podwire/testkit';
import type { Etcd } from '@podwire/testkit/etcd';
import { OpenVSwitch } from '@podwire/testkit/openvswitch';
import { createFixture, type Fixture, keys } from './cluster-fixture.js';

export interface SdnFixture extends Fixture {
  readonly switches: readonly OpenVSwitch[];
  /** Both past all code under test. */
  apply(object: AnyObject): Promise<void>;
  read(reference: ObjectReference): Promise<AnyObject | undefined>;
  remove(reference: ObjectReference): Promise<void>;
}

export interface SdnOptions {
  readonly mode: 'subnet' | 'multitenant';
  readonly CIDR: string;
  readonly hostSubnetLength: number;
}

const usual: SdnOptions = { mode: 'multitenant', CIDR: '10.128.0.0/14', hostSubnetLength: 9 };
const apiVersion = 'network.openshift.io/v1';
const serviceNetwork = '172.30.0.0/16';

const clusterNetworkOf = ({ mode, CIDR, hostSubnetLength }: SdnOptions): AnyObject => ({
  ...{ apiVersion, kind: 'ClusterNetwork', metadata: { name: 'default' } },
  ...{ network: CIDR, hostsubnetlength: hostSubnetLength, serviceNetwork },
  ...{ pluginName: `redhat/openshift-ovs-${mode}` },
  ...{ clusterNetworks: [{ CIDR, hostSubnetLength }] },
});

export const namespace = (name: string): AnyObject => ({
  ...{ apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
});

interface AgentOptions {
  /** Machines with an agent from the beginning. */
  readonly agents?: number;
  /** More of the configuration of a machine's agent. */
  readonly agentOf?: (host: ClusterHost) => object;
}

/** Two machines. Tunnels go through a cable of their own, since the switch has both ends of it. */
export async function createSdnFixture(
  name: string,
  { agents = 2, agentOf = () => ({}), ...given }: Partial<SdnOptions> & AgentOptions = {},
): Promise<SdnFixture> {
  const sdn = { ...usual, ...given };
  const options = { clusterNetworks: [sdn.CIDR], serviceNetwork, mode: sdn.mode, datapath: 'netdev' };
  const switches: OpenVSwitch[] = [];
  let cable: Promise<void> | undefined;
  const fixture = await createFixture({
    ...{ name, hosts: 2, agents, pools: [] },
    config: { networks: [{ name: 'default', model: 'sdn', options }] },
    async prepare(host, index, { hosts, etcd }) {
      await (cable ??= connect(hosts));
      // A node is ready when it has its subnet.
      if (index === 0) await put(etcd, clusterNetworkOf(sdn));
      switches[index] = await startSwitch(host, index);
      const { runDir } = switches[index];
      return { openvswitch: { runDir }, cluster: { address: addressOf(index) }, ...agentOf(host) };
    },
  });
  const control = (words: readonly string[]): Promise<string> => fixture.etcd.control(words);
  return {
    ...fixture,
    switches,
    apply: (object) => put(fixture.etcd, object),
    remove: (reference) => fixture.delete(objectKey(keys.root, reference)),
    async read(reference) {
      const key = objectKey(keys.root, reference);
      const value = (await control(['get', key, '--print-value-only'])).trim();
      if (value === '') return undefined;
      return decodeStoredObject(keys.root, { key, value, revision: 0 }).stored?.object;
    },
  };
}

async function put(etcd: Etcd, object: AnyObject): Promise<void> {
  const key = objectKey(keys.root, referenceOf(object));
  await etcd.control(['put', key, encodeStoredObject(object, undefined, 0)]);
}

const addressOf = (index: number): string => `192.0.2.${index + 1}`;

async function connect([one, two]: readonly ClusterHost[]): Promise<void> {
  await one!.namespace.ip(`link add eth1 type veth peer name eth1 netns ${two!.namespace.name}`);
  for (const { namespace } of [one!, two!])
    await namespace.ip('link set eth1 addrgenmode none', 'link set eth1 up');
}

async function startSwitch(host: ClusterHost, index: number): Promise<OpenVSwitch> {
  const own = await OpenVSwitch.start(host.namespace);
  host.defer(() => own.close());
  await makeUplink(own, host, index);
  return own;
}

/** Tunnels of the datapath `netdev` leave by a bridge that has the address itself. */
export async function makeUplink(own: OpenVSwitch, host: ClusterHost, index: number): Promise<void> {
  await own.vsctl(
    ...['add-br', 'br-phy', '--', 'set', 'Bridge', 'br-phy', 'datapath_type=netdev'],
    ...['--', 'add-port', 'br-phy', 'eth1'],
  );
  await host.namespace.ip(
    ...['link set br-phy addrgenmode none', 'link set br-phy up'],
    `addr replace ${addressOf(index)}/24 dev br-phy`,
  );
}

export const netNamespace = (name: string): ObjectReference => ({ apiVersion, kind: 'NetNamespace', name });
export const hostSubnet = (name: string): ObjectReference => ({ apiVersion, kind: 'HostSubnet', name });

/** As an administrator asks for another VNID of a namespace. */
export async function changeNetwork(fixture: SdnFixture, name: string, change: string): Promise<void> {
  const found = await fixture.read(netNamespace(name));
  if (found === undefined) throw new Error(`there is no NetNamespace ${name}`);
  const annotations = { [networkAnnotations.changeNetwork]: change };
  await fixture.apply({ ...found, metadata: { ...found.metadata, annotations } });
}
