import fs from 'node:fs';
import path from 'node:path';
import { spawn } from 'node:child_process';
import { startDaemon } from '@podwire/cli/pods';
import { compact, withDeadline } from '@podwire/platform';
import { PodwireError } from '@podwire/errors';
import type { EngineCall } from './engine.js';

/** Below the demo's directory. */
export const engineDirectory = ({ record }: EngineCall): string =>
  path.join(record.current.directory, 'engine');

/** A program of an engine, inside the private host; resolves when its log says so. It goes on until the demo ends. */
export async function startEngineProgram(
  call: EngineCall,
  name: string,
  argv: readonly string[],
  isServing: RegExp,
): Promise<void> {
  const { record, node, signal } = call;
  const logFile = path.join(record.current.directory, `${name}.log`);
  await startDaemon(
    {
      name,
      argv,
      logFile,
      failure: 'PREREQUISITE_MISSING',
      answers: () => Promise.resolve(isServing.test(fs.readFileSync(logFile, 'utf8'))),
      inside: node.inside,
      onStart: (pid) => record.note({ process: { what: name, pid } }),
    },
    signal,
  );
}

const commandDeadline = 60_000;

/** Runs a program to its end. @throws PodwireError INTERNAL with what it said; the signal's reason */
export async function runProgram(
  [file = '', ...args]: readonly string[],
  signal: AbortSignal,
  directory?: string,
): Promise<void> {
  const { code, said } = await withDeadline(signal, commandDeadline, (either) => {
    const child = spawn(file, args, {
      stdio: ['ignore', 'ignore', 'pipe'],
      signal: either,
      ...compact({ cwd: directory }),
    });
    return new Promise<{ code: number | null; said: string }>((resolve) => {
      let text = '';
      child.stderr.setEncoding('utf8').on('data', (more: string) => (text += more));
      child.once('error', (error) => resolve({ code: null, said: error.message }));
      child.once('close', (end) => resolve({ code: end, said: text.trim() }));
    });
  });
  signal.throwIfAborted();
  if (code !== 0)
    throw new PodwireError('INTERNAL', `${path.basename(file)} ended with ${String(code)}: ${said}`);
}
