import { hasCode, startTimeOf } from '@podwire/linux';
import type { ProcessName } from './state-file.js';

export const isProcessAlive = ({ pid, start }: ProcessName): boolean =>
  pid > 1 && startTimeOf(pid) === String(start);

/** Kills it if the number still names the same process. */
export function killProcess(name: ProcessName): void {
  if (!isProcessAlive(name)) return;
  try {
    process.kill(name.pid, 'SIGKILL');
  } catch (error) {
    if (!hasCode(error, 'ESRCH')) throw error;
  }
}
