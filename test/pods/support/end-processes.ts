/** Ending what runs, as a power cut does it. */
import fs from 'node:fs';

/** SIGKILL; what has ended meanwhile is fine. */
export function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Pids of the programs whose command lines have all of these words in them. */
export function processesWith(...words: readonly string[]): number[] {
  const fits = (pid: string): boolean => {
    try {
      const line = fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      return words.every((word) => line.includes(word));
    } catch {
      return false; // it ended meanwhile
    }
  };
  return fs
    .readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry) && Number(entry) !== process.pid && fits(entry))
    .map(Number);
}
