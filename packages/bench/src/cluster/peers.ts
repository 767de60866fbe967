/**
 * Cost of an agent's engine with thousands of peers, in a network namespace of its own: everything from nothing, a look
 * at everything in place, one peer more and one less. Beside it the floor: the same requests, encoded before, sent in
 * batches.
 *
 * Usage: node packages/bench/dist/src/cluster/peers.js [PEERS] [vxlan|direct]
 */
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { createLinuxBackends, openKernel } from '@podwire/backend-linux';
import { createEngine, type Engine, type Owned, type Resource } from '@podwire/engine';
import type { NodeView, PeerView } from '@podwire/network-contract';
import { createRoutedModel } from '@podwire/network-routed';
import { planNodeTraffic } from '@podwire/network-traffic';
import { createPrivateHost, type PrivateHost } from '@podwire/testkit';
import { quantile } from '../statistics.js';
import { sendRaw } from './raw-peers.js';

const model = createRoutedModel();
const call = () => ({ signal: new AbortController().signal });
const [count, encapsulation] = [Number(process.argv[2] ?? 5_000), process.argv[3] ?? 'vxlan'];

const view: NodeView = {
  name: 'node0',
  network: {
    name: 'default',
    model: 'routed',
    pools: [
      { name: 'four', cidr: '10.0.0.0/8', natOutgoing: true, encapsulation },
      { name: 'six', cidr: 'fd00:244::/32', natOutgoing: true, encapsulation },
    ],
  },
  blocks: ['10.0.0.0/26', 'fd00:244::/122'],
  mtu: 1450,
  ipv4: true,
  ipv6: true,
  underlay: { link: 'eth0', mtu: 1500, ipv4: '172.31.255.1/12', ipv6: '2001:db8::f:f/64' },
  tunnel: { mac: model.nodeIdentity!('node0').tunnelMac, ipv4: '10.0.0.1', ipv6: 'fd00:244::1' },
};

/** Every other peer has a second block of each family. */
function peerNumber(n: number): PeerView {
  const hex = n.toString(16);
  const block4 = (index: number): string => `10.${64 * index + (n >> 8)}.${n & 255}.0/26`;
  const block6 = (index: number): string => `fd00:244:${index}:${hex}::/122`;
  const blocks = [block4(1), block6(1), ...(n % 2 === 0 ? [block4(2), block6(2)] : [])];
  return {
    ...{ name: `node${n}`, mtu: 1500, blocks },
    ...{ ipv4: `172.16.${n >> 8}.${n & 255}/12`, ipv6: `2001:db8::${hex}/64` },
    tunnel: {
      ...{
        mac: model.nodeIdentity!(`node${n}`).tunnelMac,
        ipv4: `10.${64 + (n >> 8)}.${n & 255}.1`,
        ipv6: `fd00:244:1:${hex}::1`,
      },
    },
  };
}

const ownedPeer = (n: number): Owned => ({
  owner: `peer:node${n}`,
  resources: model.planPeer(view, peerNumber(n)),
});

async function prepareHost(name: string): Promise<PrivateHost> {
  const host = await createPrivateHost({ name });
  await host.namespace.ip(
    'link add eth0 type veth peer name wire',
    'link set wire up',
    'link set eth0 up',
    `addr add ${view.underlay!.ipv4} dev eth0`,
    `addr add ${view.underlay!.ipv6} dev eth0 nodad`,
  );
  return host;
}

async function timed<T>(what: string, work: () => Promise<T>): Promise<T> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const begin = performance.now();
  const result = await work();
  const took = (performance.now() - begin).toFixed(1).padStart(9);
  delay.disable();
  console.log(
    `${what.padEnd(52)} ${took} ms, event loop blocked for up to ${(delay.max / 1e6).toFixed(0)} ms`,
  );
  return result;
}

async function measureOneMore(engine: Engine, first: number): Promise<void> {
  const [applied, removed]: [number[], number[]] = [[], []];
  for (let n = first; n < first + 200; n++) {
    const begin = performance.now();
    await engine.apply(ownedPeer(n), call());
    const between = performance.now();
    await engine.remove(ownedPeer(n), call());
    applied.push(between - begin);
    removed.push(performance.now() - between);
  }
  console.log(
    `one peer more, p50 of 200 (planned and applied)        ${quantile(applied, 0.5).toFixed(3).padStart(9)} ms`,
  );
  console.log(
    `one peer less, p50 of 200                              ${quantile(removed, 0.5).toFixed(3).padStart(9)} ms`,
  );
}

const megabytes = (): number => process.memoryUsage().rss / 1e6;

async function main(): Promise<void> {
  const [host, floor] = [await prepareHost('peers'), await prepareHost('floor')];
  const engine = createEngine({ backends: createLinuxBackends(openKernel(host.namespace)) });
  try {
    const node: Owned = { owner: 'node', resources: [...model.planNode(view), ...planNodeTraffic([view])] };
    const peers = await timed(`plan ${count} peers (${encapsulation}, dual stack)`, async () =>
      Promise.resolve(Array.from({ length: count }, (_, index) => ownedPeer(index + 1))),
    );
    const resources: readonly Resource[] = peers.flatMap((peer) => peer.resources);
    console.log(
      `${resources.length} resources; pods' MTU ${model.podMtu(view)}; RSS ${megabytes().toFixed(0)} MB`,
    );
    const raw = createEngine({ backends: createLinuxBackends(openKernel(floor.namespace)) });
    await raw.reconcile([node], call());
    await timed('floor: the same by raw requests, encoded before', async () =>
      Promise.resolve(sendRaw(floor.namespace, resources)),
    );
    await raw.close();

    const all = [node, ...peers];
    const made = await timed('reconcile, everything from nothing', async () => engine.reconcile(all, call()));
    const failed = made.filter(({ action }) => action === 'failed');
    if (failed.length > 0)
      throw new AggregateError(
        failed.map(({ error }) => error),
        failed[0]!.what,
      );
    console.log(`${made.length} changes; RSS ${megabytes().toFixed(0)} MB`);
    for (let round = 0; round < 4; round++) {
      const changes = await timed('reconcile, everything in place', async () =>
        engine.reconcile(all, call()),
      );
      if (changes.length > 0) throw new Error(`not in place: ${changes[0]!.what}`);
    }
    console.log(`RSS ${megabytes().toFixed(0)} MB`);
    await measureOneMore(engine, count + 1);
    await timed('verify of one peer', async () => engine.verify(peers[0]!, call()));
    await timed('reconcile, half of the peers gone', async () =>
      engine.reconcile(all.slice(0, count >> 1), call()),
    );
  } finally {
    await engine.close();
    await host.close();
    await floor.close();
  }
}

await main();
