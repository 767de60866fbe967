/**
 * Cost of policies for packets: a TCP stream, bytes there and back on one connection, and connections, through 1, 100
 * and 1,000 policies of which the last lets them through; beside chains of iptables of as many rules. All of them take
 * turns.
 */
import { nativeProgram } from '@podwire/testkit';
import type { StepCall } from '../../call.js';
import { placed, readPoured, readThreads } from '../../packet-time.js';
import { processorTime } from '../../process-cost.js';
import { pairedRatio, quantile } from '../../statistics.js';
import { makeChain } from './iptables-node.js';
import type { PolicedPods } from './one-node.js';
import { makePoliced } from './podwire-node.js';

export interface PolicyTrafficOptions extends StepCall {
  /** Policies, and rules of a chain. */
  readonly sizes: readonly number[];
  readonly rounds: number;
  readonly megabytes: number;
  /** Bytes there and back; connections are a twentieth of them. */
  readonly turns: number;
}

export interface TrafficRow {
  readonly name: string;
  readonly rules: number;
  /** Gigabits for each second that sender, receiver and the kernel's threads compute; the median. */
  readonly stream: number;
  /** Microseconds of processor time for a byte there and back. */
  readonly turn: number;
  /** The same for a connection with one byte there and back. */
  readonly connection: number;
  /** Of the first of the same name, as many times as good: medians over the rounds. */
  readonly ratios: { readonly stream: number; readonly turn: number; readonly connection: number };
}

interface Samples {
  readonly stream: number[];
  readonly turn: number[];
  readonly connection: number[];
}

interface Candidate extends Samples {
  readonly name: string;
  readonly rules: number;
  readonly pods: PolicedPods;
}

interface Variant {
  readonly name: string;
  readonly make: (rules: number) => Promise<PolicedPods>;
}

const variants: readonly Variant[] = [
  { name: 'podwire', make: makePoliced },
  ...(['iptables-legacy', 'iptables-nft'] as const).flatMap((program) =>
    [false, true].map((established) => ({
      name: `${program}${established ? ', established first' : ''}`,
      make: (rules: number) => makeChain({ program, rules, established }),
    })),
  ),
];

export async function measurePolicyTraffic(options: PolicyTrafficOptions): Promise<TrafficRow[]> {
  const { sizes, rounds, signal, progress } = options;
  const candidates: Candidate[] = [];
  try {
    for (const { name, make } of variants)
      for (const rules of sizes) {
        signal.throwIfAborted();
        candidates.push({ name, rules, pods: await make(rules), stream: [], turn: [], connection: [] });
        progress('traffic through policies: nodes', candidates.length, variants.length * sizes.length);
      }
    for (let round = 0; round <= rounds; round++) {
      // The first round only warms up.
      for (const candidate of round % 2 === 0 ? candidates : candidates.toReversed())
        await takeTurn(candidate, options, round > 0);
      progress('traffic through policies', round, rounds);
    }
  } finally {
    for (const { pods } of candidates) await pods.close();
  }
  return candidates.map((candidate) => describe(candidate, candidates));
}

async function takeTurn(
  { pods, stream, turn, connection }: Candidate,
  { megabytes, turns, signal }: PolicyTrafficOptions,
  counts: boolean,
): Promise<void> {
  signal.throwIfAborted();
  const figures = [
    await pour(pods, megabytes),
    await exchange(pods, 'turns', turns),
    await exchange(pods, 'calls', Math.ceil(turns / 20)),
  ] as const;
  if (!counts) return;
  for (const [index, samples] of [stream, turn, connection].entries()) samples.push(figures[index]!);
}

const patience = 60_000;

async function pour({ client, server, address, port }: PolicedPods, megabytes: number): Promise<number> {
  const [probe, bytes] = [nativeProgram('probe'), megabytes * 1e6];
  const sink = server.start([...placed, probe, 'sink', address, `${port}`]);
  await sink.waitForOutput(/^ready/m);
  const before = readThreads();
  const program = [...placed, probe, 'pour', address, `${port}`, `${bytes}`];
  const output = await client.run(program, { timeout: patience });
  const computed = readPoured(output) + readThreads() - before;
  sink.kill('SIGKILL');
  await sink.exited;
  return (bytes * 8) / 1e9 / computed;
}

async function exchange(
  { client, server, address, port }: PolicedPods,
  mode: 'turns' | 'calls',
  count: number,
): Promise<number> {
  const probe = nativeProgram('probe');
  const answer = server.start([...placed, probe, 'answer', address, `${port}`]);
  await answer.waitForOutput(/^ready/m);
  const readServer = (): number => processorTime(answer.pid) / 1e3 + readThreads();
  const before = readServer();
  const program = [...placed, probe, mode, address, `${port}`, `${count}`];
  const output = await client.run(program, { timeout: patience });
  const computed = Number(output.trim().split(' ')[1]) / 1e9 + readServer() - before;
  answer.kill('SIGKILL');
  await answer.exited;
  return (computed * 1e6) / count;
}

function describe(candidate: Candidate, all: readonly Candidate[]): TrafficRow {
  const { name, rules } = candidate;
  const first = all.find((each) => each.name === name)!;
  const median = (samples: readonly number[]): number => quantile(samples, 0.5);
  return {
    ...{ name, rules, stream: median(candidate.stream) },
    ...{ turn: median(candidate.turn), connection: median(candidate.connection) },
    ratios: {
      stream: pairedRatio(candidate.stream, first.stream),
      // Less is better: the other way round.
      turn: pairedRatio(first.turn, candidate.turn),
      connection: pairedRatio(first.connection, candidate.connection),
    },
  };
}
