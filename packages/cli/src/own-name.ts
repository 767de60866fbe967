import fs from 'node:fs';
import path from 'node:path';
import type { Io } from './io.js';

/** How people can start this program where they are. */
export function ownName({ env }: Io): string {
  // In a package a launcher of the same name starts it with the Node that lies beside it.
  const file = (process.argv[1] ?? 'podwire').replace(/\.mjs$/, '');
  const name = path.basename(file);
  const isCalled = (directory: string): boolean => leadsTo(path.join(directory, name), file);
  if (
    (env['PATH'] ?? '')
      .split(':')
      .filter((each) => path.isAbsolute(each))
      .some(isCalled)
  )
    return name;
  const relative = path.relative(process.cwd(), file);
  return relative.startsWith('..') ? file : relative;
}

/** Through links, too. */
function leadsTo(link: string, file: string): boolean {
  try {
    return fs.realpathSync(link) === fs.realpathSync(file);
  } catch {
    return false;
  }
}
