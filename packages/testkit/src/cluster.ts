import { createTestNamespace, type TestNamespace } from './namespaces.js';
import { createPrivateHost, type PrivateHost } from './private-host.js';

export interface ClusterHostsOptions {
  /** Part of the namespaces' names; letters, digits and dashes. */
  readonly name?: string;
  /** How many machines. */
  readonly hosts: number;
  /** On which segment each is, by index; all on the first when absent. Segments are joined by a router. */
  readonly segmentOf?: (index: number) => number;
  /** bytes; 1500 when absent */
  readonly mtu?: number;
}

/** One machine of a cluster: `eth0` leads to the others, and its default route through the router. */
export interface ClusterHost extends PrivateHost {
  /** ADDRESS/LENGTH */
  readonly ipv4: string;
  readonly ipv6: string;
  /** Pulls the cable, and plugs it in again. */
  cut(): Promise<void>;
  restore(): Promise<void>;
  /** Takes its own end of the cable down and sets it up again at once, as a restart of the machine's network does. */
  bounce(): Promise<void>;
}

/** Machines joined by bridges in a namespace that also routes between them, and where servers can be. */
export interface ClusterHosts {
  readonly hosts: readonly ClusterHost[];
  /** The bridges and the router. */
  readonly middle: TestNamespace;
  /** An address of the middle that every machine reaches: where a store listens. */
  readonly address: string;
  close(): Promise<void>;
}

const gateway = {
  4: (segment: number) => `10.99.${segment}.1`,
  6: (segment: number) => `fd00:99:${segment}::1`,
};

let created = 0;

/** Makes the machines. Needs root. IPv4 10.99.SEGMENT.0/24, IPv6 fd00:99:SEGMENT::/64; machines have the addresses from .10. */
export async function createClusterHosts(options: ClusterHostsOptions): Promise<ClusterHosts> {
  created += 1;
  const name = `pwt-${process.pid}-c${created}${options.name === undefined ? '' : `-${options.name}`}`;
  const segmentOf = options.segmentOf ?? (() => 0);
  const segments = new Set(Array.from({ length: options.hosts }, (_, index) => segmentOf(index)));
  const middle = createTestNamespace(name);
  const hosts: ClusterHost[] = [];
  const close = async (): Promise<void> => {
    const outcomes = await Promise.allSettled(hosts.map((host) => host.close()));
    middle.delete();
    const failed = outcomes.flatMap((each) => (each.status === 'rejected' ? [each.reason as Error] : []));
    if (failed.length > 0) throw new AggregateError(failed, failed.map(String).join('\n'));
  };
  try {
    await prepareMiddle(middle, [...segments], options.mtu ?? 1500);
    for (let index = 0; index < options.hosts; index++) {
      hosts.push(await addHost(middle, index, segmentOf(index), options));
    }
  } catch (error) {
    await close();
    throw error;
  }
  return { hosts, middle, address: gateway[4]([...segments][0]!), close };
}

async function prepareMiddle(middle: TestNamespace, segments: readonly number[], mtu: number): Promise<void> {
  await middle.run(['sysctl', '-qw', 'net.ipv4.ip_forward=1', 'net.ipv6.conf.all.forwarding=1']);
  await middle.ip(
    'link set lo up',
    ...segments.flatMap((segment) => [
      `link add br${segment} mtu ${mtu} type bridge`,
      // The kernel's own addresses come late and are not needed here.
      `link set br${segment} addrgenmode none`,
      `link set br${segment} up`,
      `addr add ${gateway[4](segment)}/24 dev br${segment}`,
      `addr add ${gateway[6](segment)}/64 dev br${segment} nodad`,
    ]),
  );
}

async function addHost(
  middle: TestNamespace,
  index: number,
  segment: number,
  { name, mtu = 1500 }: ClusterHostsOptions,
): Promise<ClusterHost> {
  const host = await createPrivateHost({ name: `${name ?? 'c'}${index + 1}` });
  const [ipv4, ipv6] = [`10.99.${segment}.${10 + index}`, `fd00:99:${segment}::${(16 + index).toString(16)}`];
  const port = `h${index + 1}`;
  const ways = [
    `route add default via ${gateway[4](segment)}`,
    `route add default via ${gateway[6](segment)}`,
  ];
  const addresses6 = [
    `addr add fe80::${10 + index}/64 dev eth0 scope link nodad`,
    `addr add ${ipv6}/64 dev eth0 nodad`,
  ];
  try {
    await host.namespace.ip(
      `link add eth0 mtu ${mtu} type veth peer name ${port} mtu ${mtu} netns ${middle.name}`,
      'link set eth0 addrgenmode none',
      'link set eth0 up',
      `addr add ${ipv4}/24 dev eth0`,
      ...addresses6,
    );
    await middle.ip(
      `link set ${port} addrgenmode none`,
      `link set ${port} master br${segment}`,
      `link set ${port} up`,
    );
    await host.namespace.ip(...ways);
  } catch (error) {
    await host.close();
    throw error;
  }
  return {
    ...host,
    ipv4: `${ipv4}/24`,
    ipv6: `${ipv6}/64`,
    cut: () => middle.ip(`link set ${port} down`),
    restore: () => middle.ip(`link set ${port} up`),
    // IPv4 addresses stay with a link that is down, and nothing else does.
    bounce: () => host.namespace.ip('link set eth0 down', 'link set eth0 up', ...addresses6, ...ways),
  };
}
