/** The flows on a real ovs-vswitchd: it takes all of them, and packets go the same way as through the fake switch. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  addFlow,
  deleteFlows,
  type Flow,
  formatMatch,
  openSwitch,
  type SwitchConnection,
} from '@podwire/openflow';
import type { PacketFields } from '@podwire/openflow/fake';
import {
  addressOf,
  answerTo,
  askArp,
  Cluster,
  countHits,
  gateway,
  nodeMac,
  OUTSIDE,
  planNode,
  podOf,
  SERVICE,
  tcp,
} from './cluster.js';
import { goldenCases } from './golden.js';
import { OpenVSwitch } from '@podwire/testkit/openvswitch';
import { readFields, readTrace } from '@podwire/unixctl';

let real: OpenVSwitch;
let connection: SwitchConnection;

const ports = [1, 2, 3, 4].flatMap((number) => [
  ...['--', 'add-port', 'br0', `p${number}`],
  ...['--', 'set', 'Interface', `p${number}`, 'type=dummy', `ofport_request=${number}`],
]);
const bridge = ['datapath_type=dummy', 'fail_mode=secure', 'protocols=OpenFlow14'];

before(async () => {
  real = await OpenVSwitch.start();
  await real.vsctl('add-br', 'br0', '--', 'set', 'Bridge', 'br0', ...bridge, ...ports);
  connection = await openSwitch(real.socketOf('br0'));
});
after(async () => {
  // A start that has failed leaves them out.
  (connection as SwitchConnection | undefined)?.close();
  await (real as OpenVSwitch | undefined)?.close();
});

/** In one bundle. */
const replaceFlows = (flows: readonly Flow[]): Promise<void> =>
  connection.applyBundle([deleteFlows(), ...flows.map(addFlow)]);

const [web, db, far] = [podOf(1, 0, 42), podOf(1, 1, 0), podOf(2, 0, 42)];
const fromTunnel = { in_port: 1, tun_src: addressOf(2), tun_id: '0x2a' };
/** Tracked by a connection from the service proxy, as the switch sees it that has marked it. */
const proxied = { ct_state: 'est|rpl|trk', ct_mark: 1 };

const packets: Readonly<Record<string, PacketFields>> = {
  'to a pod of the node': { ...tcp(web.ip, db.ip), in_port: web.port },
  'to a pod of another node': { ...tcp(web.ip, far.ip), in_port: web.port },
  'from a pod of another node': { ...tcp(far.ip, web.ip), ...fromTunnel },
  'of a project that is not here': { ...tcp(far.ip, web.ip), ...fromTunnel, tun_id: '0x63' },
  'from OVN-Kubernetes': { ...tcp(far.ip, web.ip), ...fromTunnel, eth_dst: nodeMac(1) },
  'from an unknown node': { ...tcp(far.ip, web.ip), ...fromTunnel, tun_src: '192.0.2.66' },
  'to a service': { ...tcp(web.ip, SERVICE), in_port: web.port },
  'from the service proxy': { ...tcp(web.ip, db.ip), in_port: 2 },
  'back to a pod that asked a service': { ...answerTo(tcp(web.ip, db.ip)), ...proxied, in_port: db.port },
  'out of the cluster': { ...tcp(web.ip, OUTSIDE), in_port: web.port },
  'to the DNS server of the node': { ...tcp(web.ip, addressOf(1), 53), in_port: web.port },
  'from the node': { ...tcp(gateway(1), web.ip), in_port: 2 },
  'to the node': { ...tcp(web.ip, gateway(1)), in_port: web.port },
  'from the address of another pod': { ...tcp(db.ip, far.ip), in_port: web.port },
  'of multicast': { ...tcp(web.ip, '239.1.2.3'), in_port: web.port },
  'of multicast from another node': { ...tcp(far.ip, '239.1.2.3'), ...fromTunnel },
  'of ARP to a pod of the node': { ...askArp(web.ip, db.ip), in_port: web.port },
  'of ARP to a pod of another node': { ...askArp(web.ip, far.ip), in_port: web.port },
  'of ARP to the gateway': { ...askArp(web.ip, gateway(1)), in_port: web.port },
  'of ARP from the address of another pod': { ...askArp(db.ip, far.ip), in_port: web.port },
};

interface Way {
  /** Table and priority of each lookup. */
  readonly steps: readonly string[];
  readonly outputs: readonly string[];
  /** Where the tunnel leads at the end. */
  readonly tunnel: string;
}

async function trace(packet: PacketFields): Promise<Way> {
  const { passes } = readTrace(await real.appctl('ofproto/trace', 'br0', formatMatch(packet)));
  const actions = passes.flatMap(({ datapathActions }) => datapathActions.split(','));
  const tunnels = passes.flatMap(({ finalFlow }) => readFields(finalFlow).get('tun_dst') ?? []);
  return {
    steps: passes.flatMap(({ steps }) => steps).map(({ table, priority }) => `${table}/${priority}`),
    outputs: actions.filter((action) => /^\d+$/.test(action)).sort(),
    tunnel: tunnels.at(-1) ?? '',
  };
}

function wayOf(cluster: Cluster, packet: PacketFields): Way {
  const { steps, outputs, packets } = cluster.evaluate(1, packet, {
    states: Array<string>(4).fill('new|trk'),
  });
  return {
    steps: steps.map(({ table, flow }) => `${table}/${flow?.priority}`),
    outputs: outputs.map(({ port }) => String(port)).sort(),
    tunnel: String(packets.at(-1)?.tun_dst ?? ''),
  };
}

/** A trace shows a tunnel that leads nowhere as well. */
const comparable = ({ tunnel, ...way }: Way): Way => ({ ...way, tunnel: tunnel === '0.0.0.0' ? '' : tunnel });

for (const { name, options } of goldenCases) {
  test(`ovs-vswitchd takes the flows in one bundle, and shows them as they were planned (${name})`, async () => {
    const flows = planNode(1, options);
    await replaceFlows(flows);
    const shown = await connection.dump('flow');
    assert.deepEqual(new Set(shown.map(({ flow }) => flow)), new Set(flows));
  });

  test(`packets take the way through ovs-vswitchd that they take through the fake switch (${name})`, async () => {
    const cluster = await Cluster.create(options);
    for (const [kind, packet] of Object.entries(packets)) {
      const [expected, found] = [await trace(packet), wayOf(cluster, packet)];
      assert.deepEqual({ kind, ...found }, { kind, ...comparable(expected) });
    }
  });
}

/** A packet as `netdev-dummy/receive` takes it. */
const frameOf = ({ in_port, ip_src, ip_dst, tcp_src, tcp_dst }: PacketFields): string =>
  `in_port(${in_port}),eth(src=02:00:00:00:00:01,dst=02:00:00:00:00:02),eth_type(0x0800),` +
  `ipv4(src=${ip_src},dst=${ip_dst},proto=17,tos=0,ttl=64,frag=no),udp(src=${tcp_src},dst=${tcp_dst})`;

/** The same as datagrams: of a connection of TCP, the first packet would have to be a SYN. */
const datagram = ({ tcp_src, tcp_dst, ...packet }: PacketFields): PacketFields => ({
  ...packet,
  ...{ ip_proto: 17, udp_src: tcp_src!, udp_dst: tcp_dst! },
});

test('ovs-vswitchd itself knows the connections from the service proxy, where its datapath is netdev', async () => {
  const { options } = goldenCases.find(({ name }) => name === 'multitenant-netdev')!;
  const cluster = await Cluster.create(options);
  await replaceFlows(planNode(1, options));
  const [byService, direct] = [tcp(web.ip, db.ip, 80), tcp(web.ip, db.ip, 80, 50_000)];
  const sent = [
    { ...tcp(web.ip, SERVICE, 80), in_port: web.port },
    { ...byService, in_port: 2 },
    { ...answerTo(byService), in_port: db.port },
    { ...byService, in_port: 2 },
    { ...answerTo(byService), ip_src: SERVICE, in_port: 2 },
    { ...direct, in_port: web.port },
    { ...answerTo(direct), in_port: db.port },
  ];
  for (const packet of sent) {
    await real.appctl('netdev-dummy/receive', `p${packet.in_port}`, frameOf(packet));
    // The caches of the datapath give their counters to the flows, and the next packet asks the tables again.
    await real.appctl('revalidator/purge');
    cluster.evaluate(1, datagram(packet));
  }
  const hits = await countHits(connection);
  assert.deepEqual(hits, await cluster.countHits(1));
  assert.equal(hits.filter((hit) => hit.includes('table=70,priority=200')).length, 1);
});
