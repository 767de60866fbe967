import fs from 'node:fs';
import path from 'node:path';

/** The part of `fs.watch` that is used, for tests. */
export type StartWatching = (
  folder: string,
  onEvent: () => void,
  onError: (error: Error) => void,
) => Watching;

export interface Watching {
  close(): void;
}

export const watchFolder: StartWatching = (folder, onEvent, onError) => {
  // Not persistent: watching is no reason for a process to stay.
  const watcher = fs.watch(folder, { persistent: false }, onEvent);
  watcher.on('error', onError);
  return watcher;
};

export interface DirectoryWatch {
  /** Watches the right folder again if it is another one by now. Called on every event and at every poll. */
  check(): void;
  /** The folder that is watched: the directory, or the nearest parent that exists. Undefined when nothing can be watched. */
  watched(): string | undefined;
  close(): void;
}

/**
 * Tells when something happens in a directory. While it does not exist, its nearest existing parent is watched; an inotify
 * watch also dies with its directory, and one that is made again under the same name is another inode (containerd #11209,
 * #11715). What it misses, polling finds.
 */
export function watchDirectory(
  directory: string,
  onChange: () => void,
  start: StartWatching = watchFolder,
): DirectoryWatch {
  let current: { folder: string; inode: bigint; watching: Watching } | undefined;
  let closed = false;

  const stop = (): void => {
    current?.watching.close();
    current = undefined;
  };
  const check = (): void => {
    if (closed) return;
    // The folder may appear between the look and the watch, so it looks again until nothing has changed.
    for (let attempt = 0; attempt < 5; attempt++) {
      const nearest = nearestFolder(directory);
      if (nearest === undefined) return stop();
      if (current?.folder === nearest.folder && current.inode === nearest.inode) return;
      stop();
      current = begin(nearest);
    }
  };
  const begin = (nearest: { folder: string; inode: bigint }): typeof current => {
    try {
      const watching = start(
        nearest.folder,
        () => {
          check();
          onChange();
        },
        stop,
      );
      return { ...nearest, watching };
    } catch {
      // No inotify instances left (ENOSPC, EMFILE), or it is gone again: polling goes on.
      return undefined;
    }
  };
  check();
  return {
    check,
    watched: () => current?.folder,
    close: () => {
      closed = true;
      stop();
    },
  };
}

function nearestFolder(directory: string): { folder: string; inode: bigint } | undefined {
  for (let folder = path.resolve(directory); ; folder = path.dirname(folder)) {
    const stat = statFolder(folder);
    if (stat?.isDirectory() === true) return { folder, inode: stat.ino };
    if (folder === path.dirname(folder)) return undefined;
  }
}

function statFolder(folder: string): fs.BigIntStats | undefined {
  try {
    return fs.statSync(folder, { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
