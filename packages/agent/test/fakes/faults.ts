/** Faults that other programs may cause on a node with pods, a tunnel and a peer, by class; for drift-random.ns.test.ts. */
import assert from 'node:assert/strict';
import type { TestNamespace } from '@podwire/testkit';

export interface FaultyPod {
  readonly namespace: TestNamespace;
  /** Its link on the node. */
  readonly link: string;
  /** IPv4, then IPv6, without lengths. */
  readonly addresses: readonly string[];
}

/** The parts that a fault may hit. */
export interface FaultWorld {
  readonly host: TestNamespace;
  readonly pods: readonly [FaultyPod, FaultyPod];
}

/** A number from 0 to `below`, excluding that. */
export type Random = (below: number) => number;

/** Of two pods and two families, the ones that are hit. */
interface Target extends FaultWorld {
  readonly pod: FaultyPod;
  readonly other: FaultyPod;
  readonly address: string;
  readonly ip: 'ip' | 'ip -6';
  readonly random: Random;
}

type Fault = (target: Target) => Promise<unknown>;

export const tunnel = 'podwire-vx';
const table = 'inet podwire';
const strangeMac = '02:00:00:00:99:01';

const onNode =
  (command: (target: Target) => string): Fault =>
  (target) =>
    target.host.run(command(target).split(' '));
const inPod =
  (command: (target: Target) => string): Fault =>
  (target) =>
    target.pod.namespace.run(command(target).split(' '));
const nft =
  (script: string): Fault =>
  ({ host }) =>
    host.run(['nft', '-f', '-'], { input: script });

interface Row {
  readonly dst: string;
  readonly lladdr?: string;
  readonly mac?: string;
}

/** One of the rows that a program of iproute2 lists. */
async function pickRow({ host, random }: Target, command: string): Promise<Row> {
  const rows = JSON.parse(await host.run(command.split(' '))) as Row[];
  assert.ok(rows.length > 0, command);
  return rows[random(rows.length)]!;
}

const pickWay = (target: Target, where: string): Promise<Row> =>
  pickRow(target, `${target.ip} -json route show proto 157 ${where}`);
const pickNeighbour = (target: Target): Promise<Row> =>
  pickRow(target, `${target.ip} -json neighbour show dev ${tunnel} nud permanent`);
async function pickForwarding(target: Target): Promise<string> {
  return (await pickRow(target, `bridge -json fdb show dev ${tunnel}`)).mac!;
}

const isIPv6 = ({ ip }: Target): boolean => ip === 'ip -6';

/** A chain of the table, or an element of a set in it. */
async function pickOfTable({ host, random }: Target, pattern: RegExp): Promise<RegExpMatchArray> {
  const found = [...(await host.run(['nft', 'list', 'table', 'inet', 'podwire'])).matchAll(pattern)];
  assert.ok(found.length > 0, String(pattern));
  return found[random(found.length)]!;
}
const chains = /^\tchain (\S+) \{/gm;
const verdicts = /^\t(?:set|map) (\S+) \{[^}]*?elements = \{ ([^,:}]+?)(?: :| ,|,| \})/gm;

/** By class. Each has the same right to be hit. */
export const faults: Readonly<Record<string, Fault>> = {
  'table deleted': nft(`delete table ${table}`),
  'ruleset flushed': nft('flush ruleset; add table ip foreign; add chain ip foreign kept'),
  'chain flushed': async (target) => {
    const [, chain] = await pickOfTable(target, chains);
    await target.host.run(['nft', 'flush', 'chain', 'inet', 'podwire', chain!]);
  },
  'rule added': async (target) => {
    const [, chain] = await pickOfTable(target, chains);
    await target.host.run(['nft', 'insert', 'rule', 'inet', 'podwire', chain!, 'counter']);
  },
  'element deleted': async (target) => {
    const [, set, element] = await pickOfTable(target, verdicts);
    await target.host.run(['nft', 'delete', 'element', 'inet', 'podwire', set!, `{ ${element} }`]);
  },
  'route to a pod deleted': onNode(({ ip, address }) => `${ip} route del ${address}`),
  'routes of a pod flushed': onNode(({ ip, pod }) => `${ip} route flush dev ${pod.link} proto 157`),
  'route to a pod altered': onNode(({ ip, address }) => `${ip} route replace ${address} dev lo`),
  'route to a pod altered to another pod’s link': onNode(
    ({ ip, address, other }) => `${ip} route replace ${address} dev ${other.link}`,
  ),
  'route of a block deleted': async (target) => {
    const { dst } = await pickWay(target, 'type blackhole');
    await target.host.run(`${target.ip} route del blackhole ${dst} metric 4096`.split(' '));
  },
  'route to a peer deleted': async (target) => {
    const { dst } = await pickWay(target, `dev ${tunnel}`);
    await target.host.run(`${target.ip} route del ${dst}`.split(' '));
  },
  'route to a peer altered to a pod’s link': async (target) => {
    const { dst } = await pickWay(target, `dev ${tunnel}`);
    await target.host.run(`${target.ip} route replace ${dst} dev ${target.pod.link}`.split(' '));
  },
  'route added that shadows a peer’s pod': async (target) => {
    const { dst } = await pickWay(target, `dev ${tunnel}`);
    const shadow = `${dst.split('/')[0]}/${isIPv6(target) ? 128 : 32}`;
    await target.host.run(`${target.ip} route add ${shadow} dev ${target.pod.link} proto 157`.split(' '));
  },
  'neighbour deleted': async (target) => {
    const { dst } = await pickNeighbour(target);
    await target.host.run(`ip neighbour del ${dst} dev ${tunnel}`.split(' '));
  },
  'neighbour altered': async (target) => {
    const { dst } = await pickNeighbour(target);
    await target.host.run(
      `ip neighbour replace ${dst} lladdr ${strangeMac} dev ${tunnel} nud permanent`.split(' '),
    );
  },
  'neighbour added': onNode(
    () => `ip neighbour add 10.244.99.99 lladdr ${strangeMac} dev ${tunnel} nud permanent`,
  ),
  'forwarding entry deleted': async (target) =>
    target.host.run(`bridge fdb del ${await pickForwarding(target)} dev ${tunnel}`.split(' ')),
  'forwarding entry altered': async (target) =>
    target.host.run(
      `bridge fdb replace ${await pickForwarding(target)} dev ${tunnel} dst 192.0.2.99`.split(' '),
    ),
  'forwarding entry added': onNode(() => `bridge fdb append ${strangeMac} dev ${tunnel} dst 192.0.2.99`),
  'tunnel down': onNode(() => `ip link set ${tunnel} down`),
  'tunnel deleted': onNode(() => `ip link del ${tunnel}`),
  'tunnel with another MAC': onNode(() => `ip link set ${tunnel} address ${strangeMac}`),
  'tunnel with another MTU': onNode(() => `ip link set ${tunnel} mtu 1300`),
  'tunnel with another local address': onNode(() => `ip link set ${tunnel} type vxlan local 192.0.2.77`),
  'tunnel in a bridge': onNode(() => `ip link set ${tunnel} master foreign0`),
  'tunnel’s address deleted': async (target) => {
    const [link] = JSON.parse(await target.host.run(['ip', '-json', 'address', 'show', 'dev', tunnel])) as [
      { addr_info: { local: string; prefixlen: number }[] },
    ];
    const { local, prefixlen } = link.addr_info[target.random(link.addr_info.length)]!;
    await target.host.run(`ip address del ${local}/${prefixlen} dev ${tunnel}`.split(' '));
  },
  'tunnel’s address added': onNode(() => `ip address add 10.244.99.98/32 dev ${tunnel}`),
  'pod’s link down': onNode(({ pod }) => `ip link set ${pod.link} down`),
  'pod’s link deleted': onNode(({ pod }) => `ip link del ${pod.link}`),
  'pod’s link with another MAC': onNode(({ pod }) => `ip link set ${pod.link} address ${strangeMac}`),
  'pod’s link with another MTU': onNode(({ pod }) => `ip link set ${pod.link} mtu 1300`),
  'pod’s link in a bridge': onNode(({ pod }) => `ip link set ${pod.link} master foreign0`),
  'pod’s link with another name': onNode(({ pod }) => `ip link set ${pod.link} name stranger`),
  'rate deleted': onNode(({ pod }) => `tc qdisc del dev ${pod.link} root`),
  'rate altered': onNode(
    ({ pod }) => `tc qdisc replace dev ${pod.link} root tbf rate 1mbit burst 20000 limit 60000`,
  ),
  'filter deleted': onNode(({ pod }) => `tc qdisc del dev ${pod.link} ingress`),
  'forwarding switched off': onNode((target) =>
    isIPv6(target) ? 'sysctl -qw net.ipv6.conf.all.forwarding=0' : 'sysctl -qw net.ipv4.ip_forward=0',
  ),
  'IPv6 of the tunnel switched off': onNode(() => `sysctl -qw net.ipv6.conf.${tunnel}.disable_ipv6=1`),
  'parameter of a pod’s link': onNode(({ pod, random }) => {
    const [name, value] = random(2) === 0 ? ['rp_filter', 0] : ['proxy_arp', 0];
    return `sysctl -qw net.ipv4.conf.${pod.link}.${name}=${value}`;
  }),
  'address in a pod deleted': inPod((target) => {
    return `ip address del ${target.address}/${isIPv6(target) ? 128 : 32} dev eth0`;
  }),
  'routes in a pod flushed': inPod(({ ip }) => `${ip} route flush dev eth0 proto 157`),
  'route in a pod leads nowhere': inPod(({ ip }) => `${ip} route replace unreachable default`),
  'neighbour in a pod deleted': inPod(() => 'ip neighbour del 169.254.1.1 dev eth0'),
  'link in a pod down': inPod(() => 'ip link set eth0 down'),
};

/** Causes one. */
export async function hit(world: FaultWorld, name: string, random: Random): Promise<void> {
  const index = random(2);
  const family = random(2);
  const pod = world.pods[index]!;
  await faults[name]!({
    ...world,
    ...{ pod, other: world.pods[1 - index]!, random },
    ...{ address: pod.addresses[family]!, ip: family === 0 ? 'ip' : 'ip -6' },
  });
}

/** The same numbers for the same seed (a linear congruential generator; the upper bits are the better ones). */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
