/** Small files of the state directory, next to the endpoint records. All calls are synchronous, as the records' are. */
import nodeFs from 'node:fs';
import path from 'node:path';
import { describeError, PodwireError } from '@podwire/errors';
import { hasCode } from '@podwire/linux';

/** @throws (all) PodwireError RECORD_IO */
export interface StateFiles {
  /** The text of the file; undefined when there is none. */
  read(name: string): string | undefined;
  /** Replaces the file as a whole: after a crash it is the old one or the new one. */
  write(name: string, text: string): void;
  /** Adds to the end of the file, which is made when there is none. */
  append(name: string, text: string): void;
}

export type StateFileSystem = Pick<
  typeof nodeFs,
  'appendFileSync' | 'readFileSync' | 'renameSync' | 'writeFileSync'
>;

export function openStateFiles(directory: string, fs: StateFileSystem = nodeFs): StateFiles {
  const fileOf = (name: string): string => path.join(directory, name);
  return {
    read: (name) => guard(fileOf(name), 'read', (file) => readIfThere(fs, file)),
    write: (name, text) =>
      guard(fileOf(name), 'write', (file) => {
        fs.writeFileSync(`${file}.new`, text, { mode: 0o600 });
        fs.renameSync(`${file}.new`, file);
      }),
    append: (name, text) =>
      guard(fileOf(name), 'write', (file) => fs.appendFileSync(file, text, { mode: 0o600 })),
  };
}

function readIfThere(fs: StateFileSystem, file: string): string | undefined {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

function guard<T>(file: string, action: string, work: (file: string) => T): T {
  try {
    return work(file);
  } catch (cause) {
    const message = `cannot ${action} ${file}: ${describeError(cause)}`;
    throw new PodwireError('RECORD_IO', message, { cause, details: { file } });
  }
}

/** What a file says as JSON; undefined when there is none, or when it was not written to its end. */
export function readJson(files: StateFiles, name: string): unknown {
  const text = files.read(name);
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
