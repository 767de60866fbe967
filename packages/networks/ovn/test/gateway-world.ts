/**
 * A node whose `ovn0` is a veth link. Behind it stands a router in place of OVN's, with pods of several subnets in two
 * namespaces, which sends all that comes from pods to the node: also what OVN would keep to itself.
 */
import { createLinuxBackends, openKernel } from '@podwire/backend-linux';
import { createEngine, type Engine } from '@podwire/engine';
import {
  createPrivateHost,
  ask,
  type Protocol,
  serveEcho,
  type Snapshot,
  takeSnapshot,
  type TestNamespace,
} from '@podwire/testkit';

/** The node's own end of `join`. */
export const joinEnd = { 4: '100.64.0.2', 6: 'fd00:100:64::2' } as const;
/** An address that only a gateway outside leads to. */
export const farAway = { 4: '203.0.113.1', 6: '2001:db8:113::1' } as const;
/** The node's second address. */
export const secondAddress = { 4: '192.0.2.77', 6: '2001:db8:2::77' } as const;

export interface GatewayWorld {
  readonly host: TestNamespace;
  readonly world: TestNamespace;
  readonly router: TestNamespace;
  /** Where pods of these subnets are. */
  readonly a: TestNamespace;
  readonly b: TestNamespace;
  readonly engine: Engine;
  takeSnapshot(): Promise<Snapshot>;
  close(): Promise<void>;
}

/** Both with the fifth and sixth pod of each subnet, as {@link podOf} has them. */
const numbers = { a: [16, 18, 19, 20, 21], b: [17] } as const;

export async function createGatewayWorld(): Promise<GatewayWorld> {
  const parts = await createPrivateHost({ name: 'gateway', world: true });
  const [router, a, b] = [parts.addPod('router'), parts.addPod('a'), parts.addPod('b')];
  const [host, world] = [parts.namespace, parts.world!];
  for (const one of [host, router, a, b]) await setParameters(one);
  await joinNode(host, router);
  await joinPods(router, a, 'a');
  await joinPods(router, b, 'b');
  await makeOutside(host, world);
  const engine = createEngine({ backends: createLinuxBackends(openKernel(host)) });
  return {
    ...{ host, world, router, a, b, engine },
    takeSnapshot: async () => takeSnapshot(host),
    async close() {
      await engine.close();
      await parts.close();
    },
  };
}

/** Packets between pods come back by the link that they have left by, which strict checks of the source refuse. */
async function setParameters(namespace: TestNamespace): Promise<void> {
  const keys = ['net.ipv4.ip_forward=1', 'net.ipv6.conf.all.forwarding=1'];
  const checks = ['net.ipv4.conf.all.rp_filter=0', 'net.ipv4.conf.default.rp_filter=0'];
  await namespace.run(['sysctl', '-qw', ...keys, ...checks]);
}

/** Addresses of IPv6 at once, without a check for doubles. */
const linkUp = (link: string, ...addresses: readonly string[]): string[] => [
  `link set ${link} addrgenmode none`,
  `link set ${link} up`,
  ...addresses.map((address) => `addr add ${address} dev ${link}${address.includes(':') ? ' nodad' : ''}`),
];

async function joinNode(host: TestNamespace, router: TestNamespace): Promise<void> {
  await host.ip(
    `link add ovn0 type veth peer name node netns ${router.name}`,
    ...linkUp('ovn0', `${joinEnd[4]}/16`, `${joinEnd[6]}/64`, 'fe80::2/64'),
  );
  await router.ip(
    'link set lo up',
    ...linkUp('node', '100.64.0.1/16', 'fd00:100:64::1/64', 'fe80::1/64'),
    ...[`route add default via ${joinEnd[4]} table 100`, `route add default via ${joinEnd[6]} table 100`],
  );
}

async function joinPods(router: TestNamespace, pods: TestNamespace, name: 'a' | 'b'): Promise<void> {
  const net = name === 'a' ? 1 : 2;
  const [near, far] = [`10.99.${net}`, `fd00:99:${net}:`];
  await router.ip(
    `link add to-${name} type veth peer name eth0 netns ${pods.name}`,
    ...linkUp(`to-${name}`, `${near}.1/24`, `${far}:1/64`, 'fe80::1/64'),
  );
  for (const family of ['-4', '-6'])
    await router.run(['ip', family, 'rule', 'add', 'iif', `to-${name}`, 'lookup', '100']);
  const addresses = numbers[name].flatMap((number) =>
    [5, 6].flatMap((pod) => [`10.${number}.0.${pod}/32`, `fd00:10:${number}::${pod}/128`]),
  );
  await pods.ip(
    ...[...linkUp('lo', ...addresses), ...linkUp('eth0', `${near}.2/24`, `${far}:2/64`, 'fe80::2/64')],
    ...[`route add default via ${near}.1`, `route add default via ${far}:1`],
  );
  await router.ip(
    ...numbers[name].flatMap((number) => [
      `route add 10.${number}.0.0/16 via ${near}.2`,
      `route add fd00:10:${number}::/64 via ${far}:2`,
    ]),
  );
}

/**
 * The world knows the way to pods, so that it answers those that keep their addresses. The node knows none to far
 * away, and takes its second address for nothing that it sends itself.
 */
async function makeOutside(host: TestNamespace, world: TestNamespace): Promise<void> {
  await host.ip(
    ...[
      `addr add ${secondAddress[4]}/24 dev eth0`,
      `addr add ${secondAddress[6]}/64 dev eth0 nodad preferred_lft 0`,
    ],
    ...[`route add throw 203.0.113.0/24`, `route add throw 2001:db8:113::/64`],
  );
  await world.ip(
    ...[`addr add ${farAway[4]}/32 dev lo`, `addr add ${farAway[6]}/128 dev lo nodad`],
    ...['route add 10.16.0.0/12 via 192.0.2.10', 'route add fd00:10::/32 via 2001:db8:2::10'],
  );
}

/** A request, and who the server takes for the one that sent it. */
export interface Question {
  readonly from: TestNamespace;
  readonly source?: string;
  readonly to: TestNamespace;
  /** Of the server. */
  readonly address: string;
  /** The address that is asked for it, where that is translated on the way. */
  readonly asked?: string;
  readonly protocol?: Protocol;
  /** A free one when absent. */
  readonly port?: number;
}

export async function sourceSeen(question: Question): Promise<string> {
  const { from, source, to, address, asked = address, protocol = 'udp', port = 0 } = question;
  const server = await serveEcho(to, protocol, address, port);
  try {
    const options = source === undefined ? {} : { from: source };
    return (await ask(from, protocol, asked, server.port, options)).peer.address;
  } finally {
    await server.close();
  }
}

/** A chain with one rule for {@link withRules}. */
export const chainOf = (hook: string, priority: number, rule: string, type = 'filter'): string =>
  `chain on_${hook} { type ${type} hook ${hook} priority ${priority}; ${rule}; }`;

/** Loads a table of the test's own: what kube-proxy or another machine would do. */
export async function withRules<T>(
  namespace: TestNamespace,
  chains: string,
  work: (list: () => Promise<string>) => Promise<T>,
): Promise<T> {
  const table = ['table', 'inet', 'test'];
  await namespace.run(['nft', '-f', '-'], { input: `${table.join(' ')} {\n${chains}\n}\n` });
  try {
    return await work(async () => namespace.run(['nft', 'list', ...table]));
  } finally {
    await namespace.run(['nft', 'delete', ...table]);
  }
}
