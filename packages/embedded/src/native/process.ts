import fs from 'node:fs';
import { hasCode } from '@podwire/linux';
import type { ProcessName } from './state-file.js';

/** When the process of this number started (proc(5), field 22 of stat); undefined when there is none. */
export function startTimeOf(pid: number): bigint | undefined {
  try {
    const text = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The program's name in parentheses may have blanks and parentheses itself.
    const start = text.slice(text.lastIndexOf(')') + 2).split(' ')[19];
    return start === undefined ? undefined : BigInt(start);
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ESRCH')) return undefined;
    throw error;
  }
}

/** Kills it if the number still names the same process. */
export function killProcess({ pid, start }: ProcessName): void {
  if (pid <= 1 || startTimeOf(pid) !== start) return;
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (!hasCode(error, 'ESRCH')) throw error;
  }
}
