import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { SetupError } from './show.mjs';

/**
 * Runs a program to its end and returns its exit code and standard output. With `show`, its output appears indented as it
 * comes. A program that is still there after `deadline` milliseconds is killed.
 */
export async function run(program, parameters, { show = false, deadline = 600_000, ...options } = {}) {
  const signal = AbortSignal.timeout(deadline);
  const child = spawn(program, parameters, { stdio: ['ignore', 'pipe', 'pipe'], signal, ...options });
  let stdout = '';
  child.stdout.on('data', (chunk) => (stdout += chunk));
  for (const stream of show ? [child.stdout, child.stderr] : [])
    stream.on('data', (chunk) => process.stdout.write(String(chunk).replace(/^(?=.)/gm, '      ')));
  if (!show) child.stderr.resume();
  const [code] = await once(child, 'close');
  return { code, stdout };
}

/** The same for a program that must succeed. */
export async function runOrFail(program, parameters, options = {}) {
  const { code, stdout } = await run(program, parameters, options).catch((error) => {
    throw new SetupError(`${program} cannot be run: ${error.message}`);
  });
  if (code !== 0) throw new SetupError(`${[program, ...parameters].join(' ')} failed (exit code ${code})`);
  return stdout;
}
