import { isManifestName } from '@podwire/pod-spec';
import type nodeFs from 'node:fs';
import path from 'node:path';
import { describeError } from '@podwire/errors';
import { hasCode } from '@podwire/linux';
import type { WatchedDirectory } from './watcher.js';

/** Lists the manifests at a path, and the directories to watch for changes. */

export type ListingFiles = Pick<typeof nodeFs, 'lstatSync' | 'readdirSync' | 'realpathSync' | 'statSync'>;

export interface FileListing {
  /** `unreadable`: something is there, and what it has in it cannot be known now. */
  readonly state: 'file' | 'directory' | 'missing' | 'unreadable';
  /** Why it is unreadable. */
  readonly reason?: string;
  /** Absolute paths, sorted; names that begin with a dot and backup copies of editors (`web.yaml~`) are left out. */
  readonly files: readonly string[];
  readonly watched: readonly WatchedDirectory[];
}

/** @param target absolute, without a slash at its end */
export function listManifests(target: string, fs: ListingFiles): FileListing {
  const watched = [watchAbove(target, fs)];
  try {
    const stat = fs.statSync(target, { throwIfNoEntry: false });
    if (stat === undefined) return { state: 'missing', files: [], watched };
    watched.push(...watchLink(target, fs));
    if (!stat.isDirectory()) return { state: 'file', files: [target], watched };
    return listDirectory(target, fs, [...watched, { directory: target }]);
  } catch (error) {
    if (hasCode(error, 'ENOTDIR', 'ENOENT')) return { state: 'missing', files: [], watched };
    return { state: 'unreadable', reason: describeError(error), files: [], watched };
  }
}

function listDirectory(target: string, fs: ListingFiles, watched: readonly WatchedDirectory[]): FileListing {
  const entries = fs.readdirSync(target, { withFileTypes: true }).filter(({ name }) => isManifestName(name));
  const links = entries.filter((entry) => entry.isSymbolicLink());
  const files = entries.map(({ name }) => path.join(target, name)).sort();
  return {
    state: 'directory',
    files,
    watched: [...watched, ...links.flatMap(({ name }) => watchLink(path.join(target, name), fs))],
  };
}

/** The nearest directory above that is there: it tells when the path comes, goes, or becomes another one. */
function watchAbove(target: string, fs: ListingFiles): WatchedDirectory {
  let child = target;
  for (;;) {
    const parent = path.dirname(child);
    const only = path.basename(child);
    if (parent === child || isDirectory(parent, fs)) return { directory: parent, only };
    child = parent;
  }
}

function isDirectory(file: string, fs: ListingFiles): boolean {
  try {
    return fs.statSync(file, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch {
    return false;
  }
}

/** Of a symbolic link the place that it leads to: changes there are not seen beside the link. */
function watchLink(file: string, fs: ListingFiles): WatchedDirectory[] {
  try {
    if (fs.lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return [];
    const real = fs.realpathSync(file);
    return [{ directory: path.dirname(real), only: path.basename(real) }];
  } catch {
    return [];
  }
}
