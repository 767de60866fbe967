/** Ports of a real Open vSwitch, by our client of its database and nothing else: what ovs-vswitchd needs for them. */
import { type Operation, OvsdbClient } from '@podwire/ovsdb';
import { createPrivateHost, type PrivateHost } from '@podwire/testkit';
import { OpenVSwitch } from '@podwire/testkit/openvswitch';

export const BRIDGE = 'br0';

export interface BareSwitch {
  readonly host: PrivateHost;
  readonly switch: OpenVSwitch;
  /** Adds links as ports in one transaction. Resolves when ovs-vswitchd has reported the number of each. */
  addPorts(links: readonly string[]): Promise<void>;
  /** In one transaction; ovs-vswitchd lets go of them a moment later. */
  removePorts(links: readonly string[]): Promise<void>;
  /** Resolves when ovs-vswitchd has acted on all that was written before. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

/** In a private host, with a bridge of the datapath `netdev` and so many links `v0`, `v1`, … whose other ends are nowhere. */
export async function startBareSwitch(name: string, links: number): Promise<BareSwitch> {
  const host = await createPrivateHost({ name });
  try {
    const own = await OpenVSwitch.start(host.namespace);
    host.defer(() => own.close());
    const settings = ['datapath_type=netdev', 'fail_mode=secure'];
    await own.vsctl('add-br', BRIDGE, '--', 'set', 'Bridge', BRIDGE, ...settings);
    await host.namespace.ip(...linkNames(links).flatMap(describeLink));
    const client = new OvsdbClient({ database: 'Open_vSwitch', endpoints: [own.database.endpoint] });
    host.defer(() => client.close());
    return { host, switch: own, ...(await openPorts(client)), close: () => host.close() };
  } catch (error) {
    await host.close();
    throw error;
  }
}

export const linkNames = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `v${index}`);

/** Without addresses of the kernel's own, which would be announced to all other ports. */
const describeLink = (link: string): string[] => [
  `link add ${link} type veth peer name p${link}`,
  ...[link, `p${link}`].flatMap((end) => [`link set ${end} addrgenmode none`, `link set ${end} up`]),
];

async function openPorts(
  client: OvsdbClient,
): Promise<Pick<BareSwitch, 'addPorts' | 'removePorts' | 'settle'>> {
  const cache = await client.monitor(
    {
      Interface: { columns: ['name', 'ofport'] },
      Port: { columns: ['name'] },
      Open_vSwitch: { columns: ['cur_cfg'] },
    },
    {
      indexes: {
        Interface: { name: (row) => row['name'] as string },
        Port: { name: (row) => row['name'] as string },
      },
    },
  );
  const isMade = (link: string): boolean =>
    Number(cache.find('Interface', 'name', link)[0]?.['ofport'] ?? -1) > 0;
  return {
    async addPorts(links) {
      await client.transact(links.flatMap(insertPort));
      await cache.until(() => links.every(isMade), { timeout: patience });
    },
    async removePorts(links) {
      const uuids = links.map((link) => cache.find('Port', 'name', link)[0]!._uuid);
      await client.transact([changePorts('delete', uuids)]);
    },
    async settle() {
      const [, { rows }] = await client.transact([
        { op: 'mutate', table: 'Open_vSwitch', where: [], mutations: [['next_cfg', '+=', 1]] },
        { op: 'select', table: 'Open_vSwitch', where: [], columns: ['next_cfg'] },
      ]);
      const asked = Number(rows[0]?.['next_cfg']);
      const done = (): number => Number([...cache.rows('Open_vSwitch').values()][0]?.['cur_cfg']);
      await cache.until(() => done() >= asked, { timeout: patience });
    },
  };
}

/** Milliseconds: a busy machine is no failure. */
const patience = 30_000;

function insertPort(link: string): Operation[] {
  const [interfaceId, portId] = [`interface_${link}`, `port_${link}`];
  return [
    { op: 'insert', table: 'Interface', row: { name: link }, uuidName: interfaceId },
    {
      ...{ op: 'insert', table: 'Port', uuidName: portId },
      row: { name: link, interfaces: [{ namedUuid: interfaceId }] },
    },
    changePorts('insert', [{ namedUuid: portId }]),
  ];
}

const changePorts = (
  how: 'insert' | 'delete',
  ports: readonly (string | { readonly namedUuid: string })[],
): Operation => ({
  ...{ op: 'mutate', table: 'Bridge', where: [['name', '==', BRIDGE]] },
  mutations: [['ports', how, ports]],
});
