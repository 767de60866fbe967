/** Runs ovn-trace(8), which reads the southbound database and changes nothing. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { PodwireError } from '@podwire/errors';
import { findProgram } from '@podwire/linux';
import type { Microflow } from './question.js';
import { type LogicalTrace, readTrace } from './trace-text.js';

export interface TraceRun {
  /** Endpoints of the southbound database, separated by commas. */
  readonly southbound: string;
  /** Milliseconds */
  readonly timeout: number;
  readonly signal: AbortSignal;
  /** Those of PATH when absent. */
  readonly directories?: readonly string[];
}

/** More passes through connection tracking than a packet has on its way: what follows is taken as established. */
const trackings = 16;

const run = promisify(execFile);

export interface TraceAnswer {
  /** As ovn-trace has printed it. */
  readonly text: string;
  readonly trace: LogicalTrace;
}

/**
 * Asks for the way of the first packet of a connection.
 * @throws PodwireError PREREQUISITE_MISSING, BACKEND_SILENT
 */
export async function runOvnTrace(microflow: Microflow, options: TraceRun): Promise<TraceAnswer> {
  const program = findProgram('ovn-trace', options.directories) ?? refuseMissing();
  const text = await runProgram(program, microflow, options);
  const trace = readTrace(text);
  // It ends well with `unknown datapath "blue"`.
  if (trace === undefined) throw failTrace(text);
  return { text, trace };
}

async function runProgram(program: string, microflow: Microflow, options: TraceRun): Promise<string> {
  const { southbound, timeout, signal } = options;
  const flags = ['--detailed', '--no-leader-only', ...Array<string>(trackings).fill('--ct=new')];
  const words = [...flags, `--db=${southbound}`, '--', microflow.datapath, microflow.expression];
  const limits = { timeout, signal, killSignal: 'SIGKILL', maxBuffer: 16 << 20 } as const;
  try {
    return (await run(program, words, limits)).stdout;
  } catch (cause) {
    signal.throwIfAborted();
    throw explainFailure(cause as RunFailure, southbound);
  }
}

function refuseMissing(): never {
  const message = 'the program ovn-trace is not installed: apt-get install ovn-common';
  throw new PodwireError('PREREQUISITE_MISSING', message);
}

interface RunFailure {
  readonly killed?: boolean;
  readonly stderr?: string;
}

/** It ends itself with an assertion (23.03) where the southbound database lacks the sender's port. */
function explainFailure({ killed, stderr = '' }: RunFailure, southbound: string): PodwireError {
  const place = `the southbound database ${southbound}`;
  if (killed === true) return refuse(`${place} has not answered ovn-trace in time`);
  const [, port] = /WARN\|(.+): unknown logical port/.exec(stderr) ?? [];
  return port === undefined ? failTrace(stderr) : refuse(`${place} has no logical port ${port} yet`);
}

const failTrace = (output: string): PodwireError =>
  refuse(`ovn-trace has failed: ${output.trim().split('\n').at(-1) ?? ''}`);

/** Without the failure of the process as its cause, which repeats the long command line. */
const refuse = (message: string): PodwireError =>
  new PodwireError('BACKEND_SILENT', message, {
    action:
      'Look whether the southbound database is there: `--southbound` or $OVN_SB_DB names it. `podwire ovn show` says whether the logical network is complete.',
  });
