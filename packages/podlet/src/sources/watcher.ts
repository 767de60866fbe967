/**
 * Watches directories with inotify, through node:fs. A watch belongs to a directory, not to its path: when another
 * directory has taken the path, the watch is opened anew. The inode number does not always tell, since a new directory
 * often gets that of one that was just deleted; but the watch hears of its own end.
 */
import type nodeFs from 'node:fs';
import path from 'node:path';
import { describeError } from '@podwire/errors';
import { isManifestName } from '@podwire/pod-spec';

export type WatchFiles = Pick<typeof nodeFs, 'statSync' | 'watch'>;

export interface WatchedDirectory {
  readonly directory: string;
  /** Only events of this name count: a parent directory may be a busy place such as /tmp. */
  readonly only?: string;
}

interface Watch {
  /** Empty when the directory has been moved or deleted. */
  identity: string;
  close(): void;
  readonly failure?: string;
}

export class DirectoryWatcher {
  readonly #fs: WatchFiles;
  readonly #onEvent: () => void;
  readonly #watches = new Map<string, Watch>();

  constructor(fs: WatchFiles, onEvent: () => void) {
    this.#fs = fs;
    this.#onEvent = onEvent;
  }

  /** Watches these and no others. @returns whether a new watch was opened, so that what it missed has to be looked at */
  set(directories: readonly WatchedDirectory[]): boolean {
    const wanted = new Map(directories.map((each) => [keyOf(each), each]));
    for (const key of this.#watches.keys()) if (!wanted.has(key)) this.#close(key);
    let isNew = false;
    for (const [key, each] of wanted) {
      const identity = identityOf(this.#fs, each.directory);
      if (this.#watches.get(key)?.identity === identity) continue;
      this.#close(key);
      if (identity === undefined) continue;
      this.#watches.set(key, openWatch(this.#fs, each, identity, this.#onEvent));
      isNew = true;
    }
    return isNew;
  }

  /** Directories that cannot be watched, and why. */
  failures(): readonly { readonly directory: string; readonly reason: string }[] {
    return [...this.#watches].flatMap(([key, { failure }]) =>
      failure === undefined ? [] : [{ directory: key.split('\0')[0]!, reason: failure }],
    );
  }

  close(): void {
    for (const key of this.#watches.keys()) this.#close(key);
  }

  #close(key: string): void {
    this.#watches.get(key)?.close();
    this.#watches.delete(key);
  }
}

function keyOf({ directory, only = '' }: WatchedDirectory): string {
  return `${directory}\0${only}`;
}

function identityOf(fs: WatchFiles, directory: string): string | undefined {
  const stat = fs.statSync(directory, { throwIfNoEntry: false });
  return stat === undefined ? undefined : `${stat.dev}:${stat.ino}`;
}

/**
 * A draft that is going to be renamed says nothing yet; heard of, it would only delay the rename's news. `..data` and its like
 * are what the kubelet swaps to change all files of a volume at once.
 */
function concerns(name: string, only: string | undefined): boolean {
  if (only !== undefined) return name === only;
  return isManifestName(name) || name.startsWith('..');
}

function openWatch(
  fs: WatchFiles,
  { directory, only }: WatchedDirectory,
  identity: string,
  onEvent: () => void,
): Watch {
  try {
    const watch: Watch = { identity, close: () => watcher.close() };
    const own = path.basename(directory);
    const watcher = fs.watch(directory, (event, name) => {
      // libuv gives what happens to the directory itself the directory's own name.
      const isItself = event === 'rename' && name === own;
      if (isItself) watch.identity = '';
      if (isItself || name === null || concerns(name, only)) onEvent();
    });
    watcher.on('error', () => {
      watch.identity = '';
      onEvent();
    });
    return watch;
  } catch (error) {
    // Mostly fs.inotify.max_user_watches; polling goes on.
    return { identity, close: () => undefined, failure: describeError(error) };
  }
}
