/** The systemd of this machine, where one runs. */
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import { promisify } from 'node:util';
import { PodwireError } from '@podwire/errors';
import { findProgram } from '@podwire/linux';

export type Systemctl = (...words: string[]) => Promise<string>;

/** A start waits until the agent is ready, which systemd gives a minute. */
const deadline = 120_000;

const run = promisify(execFile);

/** Undefined where systemd is not the init of this machine (sd_booted(3)). */
export function openSystemctl(signal: AbortSignal): Systemctl | undefined {
  const program = findProgram('systemctl');
  if (program === undefined || !fs.existsSync('/run/systemd/system')) return undefined;
  return async (...words) => {
    try {
      const { stdout } = await run(program, words, { timeout: deadline, signal });
      return stdout;
    } catch (cause) {
      signal.throwIfAborted();
      const { stderr = '' } = cause as { stderr?: string };
      const message = `systemctl ${words.join(' ')} failed: ${stderr.trim()}`;
      throw new PodwireError('INSTALL_FAILED', message, { cause });
    }
  };
}
