import fs from 'node:fs';
import path from 'node:path';
import { PodwireError } from '@podwire/errors';
import { type Command, InvalidArgumentError } from 'commander';
import { addExamples, addOutput, optionsOf, outputOf } from '../command.js';
import { type Io, writeJson, writeLines } from '../io.js';
import { startProgress } from '../render/progress.js';
import { checkoutFile } from '../checkout.js';
import { withInterrupt } from '../interrupt.js';

/**
 * The benchmark, as far as this command uses it. It lives beside the packages and needs what tests need, so it is no
 * dependency of this one: it is looked for when it is wanted.
 */
interface Benchmark {
  readonly defaultOptions: Readonly<Record<string, unknown>>;
  runBench(
    options: Readonly<Record<string, unknown>>,
    call: {
      readonly signal: AbortSignal;
      readonly progress: (progress: { phase: string; done: number; total: number }) => void;
    },
  ): Promise<BenchResult>;
  formatReport(result: BenchResult): string;
}

interface BenchResult {
  readonly startedAt: string;
}

interface Choices {
  readonly pods?: number;
  readonly workers?: number;
  readonly rounds?: number;
  readonly endpoints?: number;
  readonly idleSeconds?: number;
  readonly peerBinDir?: string;
  readonly podwire: boolean;
  readonly save?: string;
}

const checkout = checkoutFile('.');

export function define(command: Command, io: Io): void {
  command
    .description(
      'Measures ADD and DEL of Podwire and of other CNI plugins in one run, each on a private host of its own, and the agent with many endpoints. Needs root, a checkout and Debian’s containernetworking-plugins. Takes some minutes.',
    )
    .option('--pods <count>', 'pods of each plugin', readCount)
    .option('--workers <count>', 'calls at once in the second part', readCount)
    .option('--rounds <count>', 'repetitions', readCount)
    .option('--endpoints <count>', 'endpoints for the figures of the agent; 0: none', readCount)
    .option('--idle-seconds <count>', 'how long the idle agent is watched', readCount)
    .option('--peer-bin-dir <directory>', "where the other plugins are (default: Debian's /usr/lib/cni)")
    .option('--no-podwire', 'only the others')
    .option('--save <file>', 'where the result goes as JSON (default: bench/results/TIME.json)')
    .action(() => run(command, io));
  addOutput(command);
  addExamples(command, [
    ['podwire bench', 'the whole of it'],
    ['podwire bench --pods 20 --endpoints 0', 'a first look'],
    ['podwire bench -o json > result.json', ''],
  ]);
}

function readCount(text: string): number {
  const count = Number(text);
  if (/^\d{1,6}$/.test(text)) return count;
  throw new InvalidArgumentError('It must be a whole number.');
}

async function run(command: Command, io: Io): Promise<void> {
  const { podwire, save, ...chosen } = optionsOf(command) as unknown as Choices;
  const benchmark = await loadBenchmark();
  const options = {
    ...benchmark.defaultOptions,
    ...pickChoices(chosen),
    ...(podwire ? { podwire: ownPrograms() } : {}),
  };
  const progress = startProgress(io);
  const result = await withInterrupt((signal) =>
    benchmark.runBench(options, {
      signal,
      progress: ({ phase, done, total }) => progress.show(phase, `${done}/${total}`),
    }),
  ).finally(() => progress.end());
  const file = save ?? path.join(checkout, 'bench/results', `${result.startedAt.replaceAll(':', '')}.json`);
  fs.mkdirSync(path.dirname(path.resolve(file)), { recursive: true });
  fs.writeFileSync(file, `${JSON.stringify(result)}\n`);
  if (outputOf(command) === 'json') return writeJson(io, result);
  return writeLines(io, [benchmark.formatReport(result), '', file]);
}

function pickChoices(chosen: Omit<Choices, 'podwire' | 'save'>): Record<string, unknown> {
  const { pods, workers, rounds, endpoints, idleSeconds, peerBinDir } = chosen;
  const all = { pods, workers, rounds, endpoints, idleSeconds, peerBinDir };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

function ownPrograms(): { binDir: string; agent: string[] } {
  const binDir = path.join(checkout, 'bin');
  return { binDir, agent: [process.execPath, path.join(binDir, 'podwire'), 'agent'] };
}

async function loadBenchmark(): Promise<Benchmark> {
  const file = path.join(checkout, 'packages/bench/dist/src/index.js');
  if (!fs.existsSync(file)) {
    throw new PodwireError(
      'PREREQUISITE_MISSING',
      `${file} is not there: the benchmark is part of a checkout; "npm run bench" builds and runs it`,
    );
  }
  return (await import(file)) as Benchmark;
}
