import fs from 'node:fs';
import { hasCode } from '@podwire/linux';
import type { ProcessName } from './state-file.js';

/**
 * When the process of this number started (proc(5), field 22 of stat). Undefined when there is none, or one that is dead and
 * only waits for its parent to look.
 */
export function startTimeOf(pid: number): bigint | undefined {
  try {
    const text = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The program's name in parentheses may have blanks and parentheses itself.
    const [state = '', ...fields] = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const start = fields[18];
    return start === undefined || 'ZX'.includes(state) ? undefined : BigInt(start);
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ESRCH')) return undefined;
    throw error;
  }
}

export const isProcessAlive = ({ pid, start }: ProcessName): boolean => pid > 1 && startTimeOf(pid) === start;

/** Kills it if the number still names the same process. */
export function killProcess(name: ProcessName): void {
  if (!isProcessAlive(name)) return;
  try {
    process.kill(name.pid, 'SIGKILL');
  } catch (error) {
    if (!hasCode(error, 'ESRCH')) throw error;
  }
}
