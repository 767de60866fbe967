/** Pods of OVN by rows alone, which our client of its databases writes: what OVN itself needs until their packets pass. */
import { switchLinkFeature } from '@podwire/linux';
import { type Operation, OvsdbClient } from '@podwire/ovsdb';
import type { TestNamespace } from '@podwire/testkit';
import type { OvnCentral, OvnNode } from '@podwire/testkit/ovn';
import { defaultSwitch } from './cluster.js';

/** A pod whose link and addresses are there, and which is on no switch yet. */
export interface BarePod {
  readonly namespace: TestNamespace;
  /** The node's end of its link, and its logical port. */
  readonly link: string;
  readonly mac: string;
  readonly address: string;
}

export interface BarePorts {
  /** One transaction in either database. Resolves when ovn-controller has reported that the flows of all are in. */
  add(pods: readonly BarePod[]): Promise<void>;
  remove(pods: readonly BarePod[]): Promise<void>;
  close(): Promise<void>;
}

/** In a part of the switch that the controller does not come to. */
export async function addBarePods({ host }: OvnNode, count: number): Promise<BarePod[]> {
  const pods: BarePod[] = [];
  for (let number = 2; number < count + 2; number++) {
    const namespace = host.addPod();
    const mac = `00:00:00:aa:00:${number.toString(16).padStart(2, '0')}`;
    const pod = { namespace, link: `bare${number}`, mac, address: `10.16.200.${number}` };
    await wire(host.namespace, pod);
    pods.push(pod);
  }
  return pods;
}

async function wire(node: TestNamespace, { namespace, link, mac, address }: BarePod): Promise<void> {
  const pair = `link add ${link} mtu 1400 type veth peer name eth0 mtu 1400`;
  await node.ip(
    `${pair} address ${mac} netns ${namespace.name}`,
    ...[`link set ${link} addrgenmode none`, `link set ${link} up`],
  );
  await namespace.ip(
    ...['link set lo up', 'link set eth0 addrgenmode none', 'link set eth0 up'],
    ...[
      `addr add ${address}/${defaultSwitch.length} dev eth0`,
      `route add default via ${defaultSwitch.gateway}`,
    ],
  );
  // The datapath in user space passes packets on as they are: half a checksum of TCP would stay half.
  namespace.inside(() => switchLinkFeature('eth0', 'tx-checksumming', false));
}

/** Milliseconds: a busy machine is no failure. */
const patience = 60_000;

export async function openBarePorts(central: OvnCentral, node: OvnNode): Promise<BarePorts> {
  const northbound = new OvsdbClient({
    ...{ database: 'OVN_Northbound', endpoints: [central.northbound.endpoint] },
  });
  const own = new OvsdbClient({ database: 'Open_vSwitch', endpoints: [node.switch.database.endpoint] });
  const cache = await followInterfaces(own);
  const isInstalled = ({ link }: BarePod): boolean => {
    const ids = cache.find('Interface', 'name', link)[0]?.['external_ids'] as ReadonlyMap<string, string>;
    return ids?.get('ovn-installed') === 'true';
  };
  return {
    async add(pods) {
      await Promise.all([
        northbound.transact(pods.flatMap(insertLogicalPort)),
        own.transact(pods.flatMap(insertPort)),
      ]);
      await cache.until(() => pods.every(isInstalled), { timeout: patience });
    },
    async remove(pods) {
      const links = pods.map(({ link }) => link);
      await node.switch.vsctl(...links.flatMap((link) => ['--', 'del-port', 'br-int', link]));
      await central.nbctl(...links.flatMap((link) => ['--', 'lsp-del', link]));
    },
    close: async () => void (await Promise.all([northbound.close(), own.close()])),
  };
}

const followInterfaces = (client: OvsdbClient) =>
  client.monitor(
    { Interface: { columns: ['name', 'external_ids'] } },
    { indexes: { Interface: { name: (row) => row['name'] as string } } },
  );

const insertLogicalPort = ({ link, mac, address }: BarePod): Operation[] => [
  {
    ...{ op: 'insert', table: 'Logical_Switch_Port', uuidName: `logical_${link}` },
    row: { name: link, addresses: [`${mac} ${address}`] },
  },
  addTo('Logical_Switch', defaultSwitch.name, `logical_${link}`),
];

const insertPort = ({ link }: BarePod): Operation[] => [
  {
    ...{ op: 'insert', table: 'Interface', uuidName: `interface_${link}` },
    row: { name: link, external_ids: { 'iface-id': link } },
  },
  {
    ...{ op: 'insert', table: 'Port', uuidName: `port_${link}` },
    row: { name: link, interfaces: [{ namedUuid: `interface_${link}` }] },
  },
  addTo('Bridge', 'br-int', `port_${link}`),
];

const addTo = (table: string, name: string, namedUuid: string): Operation => ({
  ...{ op: 'mutate', table, where: [['name', '==', name]] },
  mutations: [['ports', 'insert', [{ namedUuid }]]],
});
