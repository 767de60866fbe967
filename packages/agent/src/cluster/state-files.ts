/** Small files of the state directory, next to the endpoint records. All calls are synchronous, as the records' are. */
import fs from 'node:fs';
import path from 'node:path';
import { formatSavedState, parseSavedState, type SavedStateStore } from '@podwire/cluster-ipam';
import { describeError, PodwireError } from '@podwire/errors';
import type { JournalFile } from '@podwire/planner';
import { readIfExistsSync, replaceFileSync } from '@podwire/platform';

/** @throws (all) PodwireError RECORD_IO */
export interface StateFiles {
  /** The text of the file; undefined when there is none. */
  read(name: string): string | undefined;
  /** Replaces the file as a whole: after a crash it is the old one or the new one. */
  write(name: string, text: string): void;
  /** Adds to the end of the file, which is made when there is none. */
  append(name: string, text: string): void;
}

export function openStateFiles(directory: string): StateFiles {
  const fileOf = (name: string): string => path.join(directory, name);
  return {
    read: (name) => guard(fileOf(name), 'read', (file) => readIfExistsSync(file)),
    write: (name, text) =>
      guard(fileOf(name), 'write', (file) => replaceFileSync(file, text, { mode: 0o600 })),
    append: (name, text) =>
      guard(fileOf(name), 'write', (file) => fs.appendFileSync(file, text, { mode: 0o600 })),
  };
}

/** One of the files as a journal has it. */
export const journalFile = (files: StateFiles, name: string): JournalFile => ({
  read: () => files.read(name),
  write: (text) => files.write(name, text),
  append: (text) => files.append(name, text),
});

function guard<T>(file: string, action: string, work: (file: string) => T): T {
  try {
    return work(file);
  } catch (cause) {
    const message = `cannot ${action} ${file}: ${describeError(cause)}`;
    throw new PodwireError('RECORD_IO', message, { cause, details: { file } });
  }
}

/** Content of a file as JSON; undefined when there is none, or when it was not written to its end. */
export function readJson(files: StateFiles, name: string): unknown {
  const text = files.read(name);
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/**
 * The saved state of the node's addressing. A file with another name or instance is ignored: it was not written in this life of the
 * node. The name of the file is older than the name of its content.
 */
export function openSavedStateFile(files: StateFiles, node: string, instance: string): SavedStateStore {
  const fileName = 'holdings.json';
  return {
    read() {
      const found = parseSavedState(files.read(fileName) ?? '');
      return found?.node === node && found.instance === instance ? found : undefined;
    },
    write: (state) => files.write(fileName, formatSavedState(state)),
  };
}
