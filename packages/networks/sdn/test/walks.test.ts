/** The ways of packets through the bridges of a cluster, each in a test. */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { PacketFields } from '@podwire/openflow/fake';
import { podMac, type SdnMode } from '@podwire/network-sdn';
import {
  addressOf,
  askService,
  answerTo,
  askArp,
  Cluster,
  FIRST_SOURCE,
  gateway,
  gatewayMac,
  home,
  host,
  nodeMac,
  nodeOf,
  OUTSIDE,
  placeOf,
  podOf,
  SERVICE,
  tcp,
  wireOf,
} from './cluster.js';

const shop = 42;
const bank = 77;
const [web, db, teller] = [podOf(1, 0, shop), podOf(1, 1, shop), podOf(1, 2, bank)];
const [farDb, farBank] = [podOf(2, 0, shop), podOf(2, 1, bank)];
const pods = [web, db, teller, farDb, farBank];

const options = (mode: SdnMode) => ({ mode, nodes: 2, pods, multicast: [shop] });

let cluster: Cluster;

const places = (arrivals: ReturnType<Cluster['send']>): string[] => arrivals.map(placeOf);
/** Tables on the way through one bridge. */
const way = (node: number, packet: PacketFields): number[] =>
  cluster.evaluate(node, packet).steps.map(({ table }) => table);

describe.each(['subnet', 'multitenant'] as const)('in the mode %s', (mode) => {
  beforeAll(async () => {
    cluster = await Cluster.create(options(mode));
  });

  test('a pod reaches a pod of its project on its node', () => {
    const packet = tcp(web.ip, db.ip);
    expect(places(cluster.sendFrom(web, packet))).toEqual([home(db)]);
    expect(way(1, { ...packet, in_port: web.port })).toEqual([0, 0, 20, 27, 30, 31, 70, 80]);
  });

  test('a pod reaches a pod of its project on another node, and its VNID goes with the packet', () => {
    const packet = { ...tcp(web.ip, farDb.ip), in_port: web.port };
    expect(way(1, packet)).toEqual([0, 0, 20, 27, 30, 31, 90]);
    const [sent] = cluster.evaluate(1, packet).outputs;
    const vnid = mode === 'subnet' ? {} : { tun_id: '0x2a' };
    expect(sent).toMatchObject({ port: 1, packet: { tun_dst: addressOf(2), ...vnid } });
    const received = { ...wireOf(sent!.packet), in_port: 1, tun_src: addressOf(1), ...vnid };
    expect(way(2, received)).toEqual([0, 0, 10, 30, 31, 70, 80]);
    expect(places(cluster.sendFrom(web, packet))).toEqual([home(farDb)]);
  });

  test('a packet to a service goes to the service proxy of the node', () => {
    const packet = tcp(web.ip, SERVICE);
    expect(places(cluster.sendFrom(web, packet))).toEqual([host(1)]);
    expect(way(1, { ...packet, in_port: web.port })).toEqual([0, 0, 20, 27, 30, 31, 60]);
  });

  test('a packet that the service proxy sends to a pod counts as one of the pod that asked', () => {
    const sent = { ...tcp(web.ip, db.ip), in_port: 2 };
    expect(way(1, sent)).toEqual([0, 0, 25, 27, 30, 31, 70, 80]);
    expect(places(cluster.send(1, sent))).toEqual([home(db)]);
    expect(places(cluster.send(1, { ...tcp(web.ip, farDb.ip), in_port: 2 }))).toEqual([home(farDb)]);
  });

  test('the service proxy sends nothing on for a pod that is not on its node', () => {
    expect(cluster.send(1, { ...tcp(podOf(1, 9, 0).ip, db.ip), in_port: 2 })).toEqual([]);
  });

  test('a packet out of the cluster goes to the node', () => {
    const packet = tcp(web.ip, OUTSIDE);
    expect(places(cluster.sendFrom(web, packet))).toEqual([host(1)]);
    expect(way(1, { ...packet, in_port: web.port })).toEqual([0, 0, 20, 27, 30, 31, 99, 100, 101]);
  });

  test('a question to the DNS server of the node passes before egress policies', () => {
    const question = { ...tcp(web.ip, addressOf(1), 53), in_port: web.port };
    expect(way(1, question).at(-1)).toBe(99);
    expect(places(cluster.send(1, question))).toEqual([host(1)]);
  });

  test('the node reaches a pod before the rules between projects are asked', () => {
    const { steps } = cluster.evaluate(1, { ...tcp(gateway(1), web.ip), in_port: 2 });
    expect(steps.at(-1)).toMatchObject({ table: 80, flow: { priority: 300 } });
  });

  test.each(pods)('the node reaches pod $ip, and is reached by it', (pod) => {
    expect(places(cluster.send(1, { ...tcp(gateway(1), pod.ip), in_port: 2 }))).toEqual([home(pod)]);
    expect(places(cluster.sendFrom(pod, tcp(pod.ip, gateway(1))))).toEqual([host(1)]);
  });

  test.each([OUTSIDE, farBank.ip])('what the node forwards from %s reaches a pod of any project', (from) => {
    expect(places(cluster.send(1, { ...tcp(from, web.ip), in_port: 2 }))).toEqual([home(web)]);
  });

  test('ARP finds a pod of the node, one of another node, and the gateway', () => {
    expect(places(cluster.sendFrom(web, askArp(web.ip, db.ip)))).toEqual([home(db)]);
    expect(places(cluster.sendFrom(web, askArp(web.ip, farDb.ip)))).toEqual([home(farDb)]);
    expect(places(cluster.sendFrom(web, askArp(web.ip, gateway(1))))).toEqual([host(1)]);
    expect(way(1, { ...askArp(web.ip, db.ip), in_port: web.port })).toEqual([0, 20, 30, 31, 40]);
    expect(way(1, { ...askArp(web.ip, farDb.ip), in_port: web.port })).toEqual([0, 20, 30, 31, 50]);
  });

  test('ARP of the node finds pods of all nodes, and their answers come back', () => {
    expect(places(cluster.send(1, { ...askArp(gateway(1), farDb.ip), in_port: 2 }))).toEqual([home(farDb)]);
    expect(places(cluster.sendFrom(farDb, askArp(farDb.ip, gateway(1))))).toEqual([host(1)]);
  });

  test('ARP for an address outside of the cluster is dropped', () => {
    expect(cluster.sendFrom(web, askArp(web.ip, OUTSIDE))).toEqual([]);
  });

  test('a pod cannot send from the address of another one', () => {
    expect(cluster.sendFrom(web, tcp(db.ip, farDb.ip))).toEqual([]);
    expect(cluster.sendFrom(web, tcp(farBank.ip, farDb.ip))).toEqual([]);
    expect(cluster.sendFrom(web, tcp(gateway(1), db.ip))).toEqual([]);
    expect(cluster.sendFrom(web, tcp(SERVICE, db.ip))).toEqual([]);
  });

  test('a pod cannot say in ARP that it has the address of another one, nor another MAC address', () => {
    expect(cluster.sendFrom(web, askArp(gateway(1), db.ip))).toEqual([]);
    expect(
      cluster.sendFrom(web, { ...askArp(db.ip, farDb.ip), arp_sha: askArp(web.ip, '').arp_sha! }),
    ).toEqual([]);
    expect(cluster.sendFrom(web, { ...askArp(web.ip, db.ip), arp_sha: '0a:58:0a:80:02:99' })).toEqual([]);
  });

  test('a pod sends no IPv6 and no other kind of packet', () => {
    expect(cluster.sendFrom(web, { eth_type: 0x86dd, ipv6_src: 'fd00::1', ipv6_dst: 'fd00::2' })).toEqual([]);
    expect(cluster.sendFrom(web, { eth_type: 0x88cc })).toEqual([]);
  });

  test('what comes through a tunnel of an unknown node is dropped', () => {
    const packet = { ...tcp(farDb.ip, web.ip), in_port: 1, tun_id: `0x${shop.toString(16)}` };
    expect(places(cluster.send(1, { ...packet, tun_src: addressOf(2) }))).toEqual([home(web)]);
    expect(cluster.send(1, { ...packet, tun_src: '192.0.2.66' })).toEqual([]);
  });

  test('what comes through a tunnel and is neither from nor to the cluster is dropped', () => {
    const packet = { ...tcp(OUTSIDE, '203.0.113.9'), in_port: 1, tun_src: addressOf(2) };
    expect(cluster.send(1, packet)).toEqual([]);
    expect(way(1, packet)).toEqual([0, 0]);
  });

  test('what another node sends a pod from an address outside of the cluster arrives', () => {
    const packet = { ...tcp(OUTSIDE, web.ip), in_port: 1, tun_src: addressOf(2) };
    expect(places(cluster.send(1, packet))).toEqual([home(web)]);
  });

  test('a pod cannot send tunnel packets, not even to its own node', () => {
    const { vxlanPort } = nodeOf(1, options(mode));
    const tunnel = { eth_type: 0x0800, ip_proto: 17, ip_src: web.ip, udp_src: 4000, udp_dst: vxlanPort };
    for (const to of [db.ip, farDb.ip, gateway(1), addressOf(1), addressOf(2)])
      expect(cluster.sendFrom(web, { ...tunnel, ip_dst: to })).toEqual([]);
    expect(places(cluster.sendFrom(web, { ...tunnel, udp_dst: 4790, ip_dst: db.ip }))).toEqual([home(db)]);
  });
});

describe('multicast', () => {
  beforeAll(async () => {
    cluster = await Cluster.create(options('multitenant'));
  });

  test('of a project that has it reaches the other pods of the project on all nodes, and no others', () => {
    expect(places(cluster.sendFrom(web, tcp(web.ip, '239.1.2.3'))).sort()).toEqual([home(db), home(farDb)]);
    expect(way(1, { ...tcp(web.ip, '239.1.2.3'), in_port: web.port }).slice(-3)).toEqual([110, 111, 120]);
  });

  test('of a project that does not have it is dropped', () => {
    expect(cluster.sendFrom(teller, tcp(teller.ip, '239.1.2.3'))).toEqual([]);
  });

  test('from a tunnel is not sent through tunnels again', async () => {
    cluster = await Cluster.create({
      ...options('multitenant'),
      nodes: 3,
      pods: [...pods, podOf(3, 0, shop)],
    });
    const copies = cluster.sendFrom(web, tcp(web.ip, '239.1.2.3'));
    expect(places(copies).sort()).toEqual([home(db), home(farDb), '3:3']);
    const received = { ...tcp(web.ip, '239.1.2.3'), in_port: 1, tun_src: addressOf(1), tun_id: shop };
    expect(way(2, received).slice(-2)).toEqual([31, 120]);
  });

  test('that the node forwards is dropped, also where the global project has multicast', async () => {
    const global = { ...options('multitenant'), pods: [podOf(1, 0, 0)], multicast: [0] };
    const forwarding = await Cluster.create(global);
    expect(forwarding.send(1, { ...tcp(OUTSIDE, '239.1.2.3'), in_port: 2 })).toEqual([]);
  });
});

describe('while the cluster moves to OVN-Kubernetes', () => {
  const fromOvn = { in_port: 1, tun_src: addressOf(2), eth_dst: nodeMac(1) };

  beforeAll(async () => {
    cluster = await Cluster.create({ ...options('multitenant'), migrates: true });
  });

  test.each([
    ['a pod', web.ip, home(web), podMac(web.ip)],
    ['the gateway', gateway(1), host(1), gatewayMac(1)],
  ])('a packet for the MAC address of the node gets that of %s', (_, to, place, mac) => {
    const arrivals = cluster.send(1, { ...tcp(farDb.ip, to), ...fromOvn, tun_id: shop });
    expect(arrivals.map((each) => [placeOf(each), each.packet.eth_dst])).toEqual([[place, mac]]);
  });

  test('a packet of an unknown node is dropped all the same', () => {
    expect(cluster.send(1, { ...tcp(farDb.ip, web.ip), ...fromOvn, tun_src: '192.0.2.66' })).toEqual([]);
  });
});

describe.each(['system', 'netdev'] as const)('the answer of a service, with the datapath %s', (datapath) => {
  beforeEach(async () => {
    cluster = await Cluster.create({ ...options('multitenant'), datapath });
  });

  test.each([db, farDb])('has the address of the service when pod $ip gives it', async (backend) => {
    expect(await askService(cluster, web, backend)).toMatchObject([
      {
        node: 1,
        port: web.port,
        packet: { ip_src: SERVICE, tcp_src: 80, ip_dst: web.ip, tcp_dst: FIRST_SOURCE },
      },
    ]);
  });

  test.each([teller, farBank])(
    'does not come from pod $ip of another project, which is not asked',
    async (backend) => {
      expect(await askService(cluster, web, backend)).toEqual([]);
    },
  );

  test('is dropped when a pod of another project makes it up', async () => {
    await askService(cluster, web, farBank);
    expect(cluster.sendFrom(farBank, answerTo(tcp(web.ip, farBank.ip, 80)))).toEqual([]);
  });

  test('changes no answers of connections without a service', () => {
    expect(places(cluster.sendFrom(web, tcp(web.ip, farDb.ip)))).toEqual([home(farDb)]);
    expect(cluster.sendFrom(farDb, answerTo(tcp(web.ip, farDb.ip)))).toMatchObject([
      { node: 1, port: web.port, packet: { ip_src: farDb.ip } },
    ]);
  });
});

test('on netdev an answer goes to the node only if the service proxy has begun its connection', async () => {
  const answer = { ...answerTo(tcp(web.ip, db.ip)), in_port: db.port };
  const fresh = await Cluster.create({ ...options('multitenant'), datapath: 'netdev' });
  const { outputs } = fresh.evaluate(1, answer, { states: ['est|rpl|trk'] });
  expect(outputs.map(({ port }) => port)).toEqual([web.port]);
});
