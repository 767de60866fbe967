/**
 * TCP from pod to pod across two nodes: through what Podwire makes, and through the same made by hand with `ip` and `bridge`,
 * bare and with the masquerading that pods need to reach more than each other. Pairs of nodes in namespaces of their own, rounds in
 * turn, so that all see the same machine.
 */
import { pour, serveSink } from '@podwire/testkit';
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

interface Candidate {
  readonly pair: Pair;
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
  const candidates: Candidate[] = [];
  const add = (pair: Pair): void => void candidates.push({ pair, rates: [] });
  try {
    add(await makeByPodwire(encapsulation));
    add(await makeByHand(encapsulation));
    add(await makeByHand(encapsulation, { masquerade: true }));
    await pourInTurns(candidates, family, options, `TCP, ${encapsulation}, IPv${family}`);
  } finally {
    for (const { pair } of candidates) await pair.close();
  }
  const [podwire = [], byHand = [], masquerading = []] = candidates.map(({ rates }) => rates);
  return {
    ...{ encapsulation, family, podwire, byHand, masquerading },
    ratio: pairedRatio(podwire, byHand),
    masqueradingRatio: pairedRatio(podwire, masquerading),
  };
}

async function pourInTurns(
  candidates: readonly Candidate[],
  family: 4 | 6,
  { rounds, megabytes, signal, progress }: ThroughputOptions,
  what: string,
): Promise<void> {
  for (let round = 0; round <= rounds; round++) {
    // The candidates take turns in going first.
    const order = round % 2 === 0 ? candidates : candidates.toReversed();
    for (const { pair, rates } of order) {
      signal.throwIfAborted();
      const rate = await pourOnce(pair, family, megabytes);
      // The first round only warms up.
      if (round > 0) rates.push(rate);
    }
    progress(what, round + 1, rounds + 1);
  }
}

async function pourOnce(pair: Pair, family: 4 | 6, megabytes: number): Promise<number> {
  const address = pair.addresses[`ipv${family}`];
  const sink = await serveSink(pair.server, address);
  try {
    return (await pour(pair.client, address, sink.port, megabytes * 1e6)).rate;
  } finally {
    await sink.close();
  }
}
