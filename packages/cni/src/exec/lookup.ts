import fs from 'node:fs';
import path from 'node:path';
import { CniError, errorCodes } from '../error.js';
import { validatePluginType } from '../names.js';

/**
 * Finds a plugin's executable: the first regular file of that name (symbolic links followed) in the directories, in
 * their order (specification, section 3: "Look up the executable specified in the type field"). Nothing is remembered
 * between calls: one `stat` costs 2 µs, and an installer may replace a plugin at any time. An empty file, as a power
 * loss leaves behind, is an error: execvp(3) would run it as a shell script that succeeds at everything.
 * @throws CniError code 7 for a type that is no file name, 5 when no directory has it or the file is empty.
 */
export function findPlugin(type: string, directories: readonly string[]): string {
  validatePluginType(type);
  for (const directory of directories) {
    const file = path.join(directory, type);
    const stat = statQuietly(file);
    if (stat?.isFile() !== true) continue;
    if (stat.size > 0) return file;
    throw new CniError(errorCodes.ioFailure, `plugin ${JSON.stringify(type)}: ${file} is empty`);
  }
  throw new CniError(
    errorCodes.ioFailure,
    `plugin ${JSON.stringify(type)} is in none of: ${directories.join(', ')}`,
    {
      details: directories.length === 0 ? 'the plugin path is empty' : undefined,
    },
  );
}

function statQuietly(file: string): fs.Stats | undefined {
  try {
    return fs.statSync(file, { throwIfNoEntry: false });
  } catch {
    // ENOTDIR, EACCES, ELOOP: not here, another directory may have it.
    return undefined;
  }
}
