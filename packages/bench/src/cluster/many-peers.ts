/** A real agent, on a real kernel and a real etcd, in a cluster of thousands that are objects in the store and nothing else. */
import { type Block, blockKind, type Keys, keysBelow, type Node, nodeKind } from '@podwire/cluster-state';
import { silentLog, systemClock } from '@podwire/platform';
import { encodeObject, openStore, type Store, type Write } from '@podwire/store';
import { type ClusterHost, startAgent } from '@podwire/testkit';
import type { StepCall } from '../call.js';
import { residentBytes } from '../process-cost.js';
import { memberConfig, startMembers } from './members.js';

export interface ManyPeers {
  readonly peers: number;
  /** Milliseconds from starting the process until it is ready, on a node that has no path to a peer yet. */
  readonly firstStart: number;
  /** Until every route is there. */
  readonly allRoutes: number;
  /** The same again, with everything in place. */
  readonly restart: number;
  /** bytes resident, at the end */
  readonly residentBytes: number;
}

export interface ManyPeersOptions extends StepCall {
  readonly peers: number;
  readonly agent: readonly string[];
}

const pools = [{ name: 'all', cidr: '10.0.0.0/8', encapsulation: 'vxlan' as const }];

export async function measureManyPeers(options: ManyPeersOptions): Promise<ManyPeers> {
  const { peers, agent, signal, progress } = options;
  const show = (step: string, done: number): void =>
    progress(`an agent with ${peers} peers: ${step}`, done, 3);
  const cluster = await startMembers({ name: 'peers', nodes: 0, more: 1, agent, pools });
  const host = cluster.hosts.hosts[0]!;
  try {
    show('their objects', 0);
    await fill(host, cluster.etcd.spec.endpoints, peers, signal);
    const config = memberConfig(host, 0, cluster.etcd.spec);
    show('first start', 1);
    const begin = performance.now();
    const running = await startAgent(host, { entry: agent, config, timeout: patience });
    const firstStart = performance.now() - begin;
    await untilRoutes(host, peers, signal);
    const allRoutes = performance.now() - begin;
    await running.stop();
    show('restart', 2);
    const again = performance.now();
    await running.start();
    const restart = performance.now() - again;
    await untilRoutes(host, peers, signal);
    const bytes = residentBytes(running.pid);
    return { peers, firstStart, allRoutes, restart, residentBytes: bytes };
  } finally {
    await cluster.close();
  }
}

/** Milliseconds until a start is given up; far above the threshold, so that a miss is still measured. */
const patience = 120_000;

/** A client inside the machine's namespace: etcd listens nowhere else. */
async function fill(
  host: ClusterHost,
  endpoints: readonly string[],
  count: number,
  signal: AbortSignal,
): Promise<void> {
  const program = [process.execPath, import.meta.filename, 'fill', endpoints.join(','), String(count)];
  await host.run(program, { timeout: 300_000, signal });
}

async function untilRoutes(host: ClusterHost, peers: number, signal: AbortSignal): Promise<void> {
  const wanted = peers * 2;
  for (const end = performance.now() + patience; ;) {
    const text = await host.run(['ip', '-4', 'route', 'show', 'proto', '157'], { signal });
    const routes = text.split('\n').filter((line) => line.includes(' via ')).length;
    if (routes >= wanted) return;
    if (performance.now() > end)
      throw new Error(`${routes} of ${wanted} routes after ${patience / 1_000} seconds`);
    await systemClock.sleep(20, signal);
  }
}

async function writeNodes(store: Store, keys: Keys, count: number): Promise<void> {
  for (let first = 0; first < count; first += 40) {
    const writes = Array.from({ length: Math.min(40, count - first) }, (_, at) =>
      describe(keys, first + at),
    ).flat();
    await store.transact({ conditions: [], writes });
  }
}

/** A node with two blocks. */
function describe(keys: Keys, number: number): Write[] {
  const name = `peer-${number}`;
  const blocks = [number * 2, number * 2 + 1].map(blockAt);
  const hex = [16, 8, 0].map((shift) => ((number >> shift) & 255).toString(16).padStart(2, '0')).join(':');
  const node: Node = {
    ...{ name, instance: name, version: '0.1.0', labels: {}, mtu: 1500, registeredAt: 0 },
    addresses: { ipv4: `172.16.${number >> 8}.${number & 255}/12` },
    tunnel: { mac: `66:00:00:${hex}`, ipv4: blocks[0]!.split('/')[0]! },
  };
  const object = (cidr: string): Block => ({
    ...{ cidr, node: name, instance: name, state: 'confirmed' },
    ...{ claimedAt: 0, loans: [] },
  });
  return [
    { op: 'put', key: keys.node(name), value: encodeObject(nodeKind, node) },
    ...blocks.map((cidr): Write => ({
      op: 'put',
      key: keys.block(cidr),
      value: encodeObject(blockKind, object(cidr)),
    })),
  ];
}

const blockAt = (number: number): string =>
  `10.${128 + ((number >> 10) & 63)}.${(number >> 2) & 255}.${(number & 3) * 64}/26`;

if (process.argv[2] === 'fill') {
  const [endpoints = '', count = '0'] = process.argv.slice(3);
  const spec = { kind: 'etcd' as const, endpoints: endpoints.split(',') };
  const store = await openStore(spec, { log: silentLog, clock: systemClock });
  await writeNodes(store, keysBelow('/podwire'), Number(count));
  await store.close();
}
