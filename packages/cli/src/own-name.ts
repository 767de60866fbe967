import path from 'node:path';
import type { Io } from './io.js';

/** How people can start this program where they are. */
export function ownName({ env }: Io): string {
  const file = process.argv[1] ?? 'podwire';
  const directory = path.dirname(file);
  if ((env['PATH'] ?? '').split(':').includes(directory)) return path.basename(file);
  const relative = path.relative(process.cwd(), file);
  return relative.startsWith('..') ? file : relative;
}
