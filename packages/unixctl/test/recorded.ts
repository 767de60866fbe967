/** Texts that ovs-vswitchd 3.1 of Debian 12 has printed. */
import fs from 'node:fs';
import path from 'node:path';

const directory = path.join(import.meta.dirname, 'traces');

export const names = fs.readdirSync(directory).map((file) => path.basename(file, '.txt'));

export const readRecorded = (name: string): string =>
  fs.readFileSync(path.join(directory, `${name}.txt`), 'utf8');
