/** The `podwire` of this checkout, as people start it. */
import path from 'node:path';
import { type Exit, run, type RunningProcess, start } from '@podwire/testkit';

const podwire = path.resolve(import.meta.dirname, '../../../../bin/podwire');

export interface Answer {
  readonly exit: Exit;
  readonly stdout: string;
  readonly stderr: string;
}

export async function podwireSays(...argv: readonly string[]): Promise<Answer> {
  const running = startPodwire(...argv);
  const exit = await running.exited;
  return { exit, stdout: running.stdout(), stderr: running.stderr() };
}

/** @throws CommandError unless it ends with 0 */
export const runPodwire = (...argv: readonly string[]): Promise<string> =>
  run([podwire, ...argv], { timeout: 120_000 });

export const startPodwire = (...argv: readonly string[]): RunningProcess => start([podwire, ...argv]);
