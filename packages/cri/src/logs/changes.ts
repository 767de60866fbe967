import fs from 'node:fs';
import path from 'node:path';
import { Notify } from '@podwire/platform';

/** Tells that something happened to a file or its name. */
export interface FileChanges {
  /** Resolves after the next change since the last call, or at once when one was missed; also when `signal` fires. */
  next(signal: AbortSignal): Promise<void>;
  close(): void;
}

/** A file system that tells nothing (network mounts) is looked at this often, in milliseconds. */
const pollMs = 1000;

/**
 * Watches the directory, not the file: a rotated log is another file of the same name. Where the name is a link, as logs of Docker
 * are, also the directory in which the file really lies.
 * @throws errors of the file system where the directory cannot be watched
 */
export function watchFile(file: string): FileChanges {
  const changed = new Notify();
  const watchers = placesOf(file).map((place) => watchPlace(place, changed.notify));
  const poll = setInterval(changed.notify, pollMs);
  return {
    next: (signal) => changed.notified(signal).catch(() => undefined),
    close: () => {
      for (const watcher of watchers) watcher.close();
      clearInterval(poll);
      changed.notify();
    },
  };
}

function watchPlace(place: string, onChange: () => void): fs.FSWatcher {
  const watcher = fs.watch(path.dirname(place), (_event, name) => {
    if (name === null || name === path.basename(place)) onChange();
  });
  // A directory that goes takes its watcher along; the poll finds out what that means.
  return watcher.on('error', onChange);
}

function placesOf(file: string): string[] {
  try {
    const real = fs.realpathSync(file);
    return path.resolve(file) === real ? [file] : [file, real];
  } catch {
    return [file];
  }
}
