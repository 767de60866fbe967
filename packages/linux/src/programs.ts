/** Programs of this machine, by absolute path. */
import fs from 'node:fs';
import path from 'node:path';

/** Debian keeps some programs in directories that only root's PATH has. */
const moreDirectories = ['/usr/local/sbin', '/usr/sbin', '/sbin', '/usr/bin', '/bin'];

/** The search path for programs: the absolute directories of PATH, then the usual ones. */
export function programDirectories(): string[] {
  const own = (process.env['PATH'] ?? '').split(':').filter((each) => path.isAbsolute(each));
  return [...own, ...moreDirectories];
}

/** @returns undefined when none of the directories has it */
export const findProgram = (
  name: string,
  directories: readonly string[] = programDirectories(),
): string | undefined => directories.map((directory) => path.join(directory, name)).find(isExecutable);

/** A file that can be run; a directory cannot. */
export function isExecutable(file: string): boolean {
  try {
    fs.accessSync(file, fs.constants.X_OK);
    return fs.statSync(file).isFile();
  } catch {
    return false;
  }
}
