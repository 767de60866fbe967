import fs from 'node:fs';

/** The id of this boot. Empty when it cannot be told: then nothing is taken for stale. */
export function readBootId(file: string): string {
  try {
    return fs.readFileSync(file, 'utf8').trim();
  } catch {
    return '';
  }
}
