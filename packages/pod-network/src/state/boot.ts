import fs from 'node:fs';

export const defaultBootIdFile = '/proc/sys/kernel/random/boot_id';

/** The id of this boot. Empty when it cannot be told: then nothing is taken for stale. */
export function readBootId(file: string): string {
  try {
    return fs.readFileSync(file, 'utf8').trim();
  } catch {
    return '';
  }
}
