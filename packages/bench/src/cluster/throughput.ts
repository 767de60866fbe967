/**
 * TCP from pod to pod across two nodes: through what Podwire makes, and through the same made by hand with `ip` and `bridge`,
 * bare and with the masquerading that pods need to reach more than each other. Pairs of nodes in namespaces of their own, rounds in
 * turn, so that all see the same machine.
 *
 * Usage: node packages/bench/dist/src/cluster/throughput.js [ROUNDS] [MEGABYTES] [direct|vxlan]
 */
import { pour, serveSink } from '@podwire/testkit';
import { makeByHand } from './hand-made-pair.js';
import { makeByPodwire } from './podwire-pair.js';
import type { Pair } from './pair.js';

const [rounds, megabytes] = [Number(process.argv[2] ?? 9), Number(process.argv[3] ?? 400)];

interface Contender {
  readonly name: string;
  readonly pair: Pair;
  readonly rates: number[];
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!;
const gigabits = (rate: number): string => (rate / 1e9).toFixed(2);

async function pourOnce({ pair, rates }: Contender, family: 'ipv4' | 'ipv6'): Promise<void> {
  const sink = await serveSink(pair.server, pair.addresses[family]);
  try {
    const { rate } = await pour(pair.client, pair.addresses[family], sink.port, megabytes * 1e6);
    rates.push(rate);
  } finally {
    await sink.close();
  }
}

async function compare(encapsulation: 'direct' | 'vxlan', family: 'ipv4' | 'ipv6'): Promise<void> {
  const contenders: Contender[] = [
    { name: 'podwire', pair: await makeByPodwire(encapsulation), rates: [] },
    { name: 'by hand', pair: await makeByHand(encapsulation), rates: [] },
    {
      name: 'by hand, masquerading',
      pair: await makeByHand(encapsulation, { masquerade: true }),
      rates: [],
    },
  ];
  try {
    for (let round = 0; round <= rounds; round++) {
      // Who goes first takes turns, and the first round only warms up.
      const order = round % 2 === 0 ? contenders : contenders.toReversed();
      for (const contender of order) await pourOnce(contender, family);
      if (round === 0) for (const { rates } of contenders) rates.length = 0;
    }
  } finally {
    for (const { pair } of contenders) await pair.close();
  }
  report(`${encapsulation} ${family}`, contenders);
}

/** The ratio is the median over the rounds: what disturbs the machine for a while disturbs all of a round alike. */
function report(what: string, contenders: readonly Contender[]): void {
  const ours = contenders[0]!.rates;
  for (const { name, rates } of contenders) {
    const spread = `${gigabits(Math.min(...rates))} to ${gigabits(Math.max(...rates))}`;
    const ratio = median(ours.map((rate, round) => rate / rates[round]!)).toFixed(3);
    console.log(
      `${what.padEnd(12)} ${name.padEnd(22)} ${gigabits(median(rates)).padStart(6)} Gbit/s (${spread}); podwire's is ${ratio} of it`,
    );
  }
}

const wanted = (['direct', 'vxlan'] as const).filter((each) =>
  [undefined, each].includes(process.argv[4] as 'direct'),
);
for (const encapsulation of wanted)
  for (const family of ['ipv4', 'ipv6'] as const) await compare(encapsulation, family);
