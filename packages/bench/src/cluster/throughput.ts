/**
 * TCP from pod to pod across two nodes: through what Podwire makes, and through the same made by hand with `ip` and `bridge`,
 * bare and with the masquerading that pods need to reach more than each other. Pairs of nodes in namespaces of their own, rounds in
 * turn, so that all see the same machine.
 */
import { pour, serveSink, type TestNamespace } from '@podwire/testkit';
import type { StepCall } from '../call.js';
import { pairedRatio } from '../statistics.js';
import { makeByHand } from './hand-made-pair.js';
import type { Pair } from './pair.js';
import { makeByPodwire } from './podwire-pair.js';

export type Encapsulation = 'direct' | 'vxlan';

export interface Throughput {
  readonly encapsulation: Encapsulation;
  readonly family: 4 | 6;
  /** Bits per second, one for each round. */
  readonly podwire: readonly number[];
  readonly byHand: readonly number[];
  readonly masquerading: readonly number[];
  /** Podwire's rate by that of the same made by hand, in the same round: the median over the rounds. */
  readonly ratio: number;
  /** Beside what is made by hand with one rule that masquerades, and so with connection tracking. */
  readonly masqueradingRatio: number;
}

export interface ThroughputOptions extends StepCall {
  readonly rounds: number;
  readonly megabytes: number;
}

/** Two ends that TCP is poured between, and what came of it. */
export interface Way {
  readonly client: TestNamespace;
  readonly server: TestNamespace;
  /** Of the server. */
  readonly address: string;
  /** Bits per second, one for each round. */
  readonly rates: number[];
}

export async function measureThroughput(options: ThroughputOptions): Promise<Throughput[]> {
  const figures: Throughput[] = [];
  for (const encapsulation of ['direct', 'vxlan'] as const)
    for (const family of [4, 6] as const) figures.push(await comparePairs(encapsulation, family, options));
  return figures;
}

async function comparePairs(
  encapsulation: Encapsulation,
  family: 4 | 6,
  options: ThroughputOptions,
): Promise<Throughput> {
  const pairs: Pair[] = [];
  try {
    pairs.push(await makeByPodwire(encapsulation));
    pairs.push(await makeByHand(encapsulation));
    pairs.push(await makeByHand(encapsulation, { masquerade: true }));
    const ways = pairs.map(({ client, server, addresses }): Way => ({
      ...{ client, server, address: addresses[`ipv${family}`], rates: [] },
    }));
    await pourInTurns(ways, options, `TCP, ${encapsulation}, IPv${family}`);
    const [podwire = [], byHand = [], masquerading = []] = ways.map(({ rates }) => rates);
    return {
      ...{ encapsulation, family, podwire, byHand, masquerading },
      ratio: pairedRatio(podwire, byHand),
      masqueradingRatio: pairedRatio(podwire, masquerading),
    };
  } finally {
    for (const pair of pairs) await pair.close();
  }
}

/** Fills in the rates. */
export async function pourInTurns(
  ways: readonly Way[],
  { rounds, megabytes, signal, progress }: ThroughputOptions,
  what: string,
): Promise<void> {
  for (let round = 0; round <= rounds; round++) {
    // The ways take turns in going first.
    const order = round % 2 === 0 ? ways : ways.toReversed();
    for (const way of order) {
      signal.throwIfAborted();
      const rate = await pourOnce(way, megabytes);
      // The first round only warms up.
      if (round > 0) way.rates.push(rate);
    }
    progress(what, round + 1, rounds + 1);
  }
}

async function pourOnce({ client, server, address }: Way, megabytes: number): Promise<number> {
  const sink = await serveSink(server, address);
  try {
    return (await pour(client, address, sink.port, megabytes * 1e6)).rate;
  } finally {
    await sink.close();
  }
}
