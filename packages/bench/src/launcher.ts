import path from 'node:path';
import { compact } from '@podwire/platform';
import { nativeProgram, type TestNamespace } from '@podwire/testkit';
import { readNetstrings, writeNetstrings } from './netstring.js';

/** One start of a plugin. */
export interface Step {
  readonly program: string;
  /** The whole environment. */
  readonly environment: Readonly<Record<string, string>>;
  /** Standard input; at the place of {@link previousOutput} comes what the step before has printed. */
  readonly input: string;
}

/** Stands in a step's input for the standard output of the step before. */
export const previousOutput = '\u0000PREVIOUS\u0000';

/** Steps that run one after another; the first that fails ends it. */
export type Job = readonly Step[];

export interface JobResult {
  readonly status: number;
  /** milliseconds since the launch */
  readonly start: number;
  readonly end: number;
  /** milliseconds of each step, from before its pipes are made until it has been waited for */
  readonly steps: readonly number[];
  /** Standard output of the last step. */
  readonly output: string;
  /** Standard error of a failed step. */
  readonly error: string;
}

const nativeDirectory = path.resolve(import.meta.dirname, '../../native');

/** The executable of one of this package's C sources, built the way that starts fastest, as the plugin is. */
export const benchProgram = (name: string): string =>
  nativeProgram(name, { sourceFile: path.join(nativeDirectory, `${name}.c`), preferMusl: true });

/** Runs jobs inside a namespace, `workers` at once. Failed jobs are results, not errors. */
export async function launch(
  namespace: TestNamespace,
  workers: number,
  jobs: readonly Job[],
  signal?: AbortSignal,
): Promise<JobResult[]> {
  const input = writeNetstrings([workers, jobs.length, ...jobs.flatMap(encodeJob)]);
  const options = { input, timeout: 600_000, ...compact({ signal }) };
  const output = await namespace.run([benchProgram('launcher')], options);
  const fields = readNetstrings(Buffer.from(output, 'utf8'));
  return jobs.map((_, index) => decodeResult(fields.slice(index * 3, index * 3 + 3)));
}

/** The same for jobs of which none may fail. @throws Error with what the first one that failed has said */
export async function launchAll(...call: Parameters<typeof launch>): Promise<JobResult[]> {
  const outcomes = await launch(...call);
  const failed = outcomes.find(({ status }) => status !== 0);
  if (failed === undefined) return outcomes;
  throw new Error(`the plugin ended with ${failed.status}: ${failed.output}${failed.error}`);
}

function encodeJob(job: Job): (string | number)[] {
  return [job.length, ...job.flatMap(encodeStep)];
}

function encodeStep({ program, environment, input }: Step): (string | number)[] {
  const entries = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
  const [head = '', tail] = input.split(previousOutput);
  return [program, entries.length, ...entries, head, tail === undefined ? 0 : 1, tail ?? ''];
}

function decodeResult([numbers = '', output = '', error = '']: readonly string[]): JobResult {
  const [status = -1, start = 0, end = 0, ...steps] = numbers.split(' ').map(Number);
  const milliseconds = (nanoseconds: number): number => nanoseconds / 1e6;
  return {
    status,
    start: milliseconds(start),
    end: milliseconds(end),
    steps: steps.map(milliseconds),
    output,
    error,
  };
}
