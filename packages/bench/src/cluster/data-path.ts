/**
 * The cost of parts of the packet filter for TCP between two nodes, beside the same parts made by hand: bits for each
 * second of processor time that sender, receiver and the kernel's threads for packets take. That is quieter than a rate
 * on a machine that does other things too. Ratios are medians over rounds in which all took turns.
 *
 * Usage: node packages/bench/dist/src/cluster/data-path.js [ROUNDS] [MEGABYTES]
 */
import { nativeProgram, type PrivateHost } from '@podwire/testkit';
import { placed, readPoured, readThreads } from '../packet-time.js';
import { pairedRatio, quantile } from '../statistics.js';
import { formatTable } from '../table.js';
import { makeByHand } from './hand-made-pair.js';
import type { Pair } from './pair.js';
import { makeByPodwire } from './podwire-pair.js';
import type { Encapsulation } from './throughput.js';

const [rounds, megabytes] = [Number(process.argv[2] ?? 20), Number(process.argv[3] ?? 400)];
interface Variant {
  readonly name: string;
  readonly make: (encapsulation: Encapsulation) => Promise<Pair>;
}

async function changed(
  encapsulation: Encapsulation,
  change: (node: PrivateHost) => Promise<void>,
): Promise<Pair> {
  const pair = await makeByPodwire(encapsulation);
  for (const node of pair.nodes) await change(node);
  return pair;
}

async function load(node: PrivateHost, input: string): Promise<void> {
  await node.run(['nft', '-f', '-'], { input });
}

/** The rules as they were: routes are asked about each packet. */
async function askRoutes(node: PrivateHost): Promise<void> {
  const listing = await node.run(['nft', '-s', 'list', 'chain', 'inet', 'podwire', 'from_pod']);
  const rules = listing.replace(/^.*@sources6.*\n/m, '').replace(/iifname \. ip saddr != @sources4 /, '');
  await load(node, `flush chain inet podwire from_pod\n${rules}`);
}

const withoutTracking = `table inet untracked {
  chain pods {
    type filter hook prerouting priority -290; policy accept;
    ip saddr 10.244.0.0/16 ip daddr 10.244.0.0/16 notrack
    ip6 saddr fd00:244::/48 ip6 daddr fd00:244::/48 notrack
  }
}
`;

const variants: readonly Variant[] = [
  { name: 'by hand', make: (encapsulation) => makeByHand(encapsulation) },
  {
    name: 'by hand, masquerading',
    make: (encapsulation) => makeByHand(encapsulation, { masquerade: true }),
  },
  { name: 'podwire', make: makeByPodwire },
  { name: 'podwire, routes asked', make: (encapsulation) => changed(encapsulation, askRoutes) },
  {
    name: 'podwire, pods untracked',
    make: (encapsulation) => changed(encapsulation, (node) => load(node, withoutTracking)),
  },
  {
    name: 'podwire, no packet filter',
    make: (encapsulation) => changed(encapsulation, (node) => load(node, 'delete table inet podwire\n')),
  },
];

/** @returns gigabits for each second of processor time */
async function pourOnce(pair: Pair, family: 4 | 6): Promise<number> {
  const [probe, address, bytes] = [nativeProgram('probe'), pair.addresses[`ipv${family}`], megabytes * 1e6];
  const before = readThreads();
  const sink = pair.server.start([...placed, probe, 'sink', address, '0']);
  const [, port] = await sink.waitForOutput(/^ready (\d+)$/m);
  const output = await pair.client.run([...placed, probe, 'pour', address, port!, `${bytes}`], {
    timeout: 60_000,
  });
  const threads = readThreads() - before;
  sink.kill('SIGKILL');
  await sink.exited;
  return (bytes * 8) / 1e9 / (readPoured(output) + threads);
}

async function compare(encapsulation: Encapsulation, family: 4 | 6): Promise<string[][]> {
  const candidates: { readonly name: string; readonly pair: Pair; readonly figures: number[] }[] = [];
  try {
    for (const { name, make } of variants)
      candidates.push({ name, pair: await make(encapsulation), figures: [] });
    for (let round = 0; round <= rounds; round++)
      for (const { pair, figures } of round % 2 === 0 ? candidates : candidates.toReversed()) {
        const figure = await pourOnce(pair, family);
        // The first round only warms up.
        if (round > 0) figures.push(figure);
      }
  } finally {
    for (const { pair } of candidates) await pair.close();
  }
  const byHand = candidates[0]!.figures;
  return candidates.map(({ name, figures }) => [
    ...[`${encapsulation}, IPv${family}`, name, quantile(figures, 0.5).toFixed(1)],
    pairedRatio(figures, byHand).toFixed(3),
  ]);
}

for (const encapsulation of ['direct', 'vxlan'] as const)
  for (const family of [4, 6] as const) {
    const rows = await compare(encapsulation, family);
    console.log(formatTable([['path', 'made', 'Gbit per CPU second', 'of by hand'], ...rows]).join('\n'));
  }
