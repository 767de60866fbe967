/**
 * A local copy of a list of the API that follows the original: list in pages, then watch from where the list was, with
 * bookmarks so that a broken watch goes on where it was; a version that the server has forgotten (410) means to list again.
 */
import type { Clock } from '@podwire/platform';
import { type KubernetesClient, KubernetesError } from './client.js';

export interface ApiObject {
  readonly metadata: { readonly uid: string; readonly resourceVersion: string };
}

interface ApiList {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  readonly items: readonly ApiObject[];
}

type WatchEvent =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: ApiObject }
  | {
      readonly type: 'BOOKMARK';
      readonly object: { readonly metadata: { readonly resourceVersion: string } };
    }
  | {
      readonly type: 'ERROR';
      readonly object: { readonly code?: number; readonly reason?: string; readonly message?: string };
    };

export interface InformerOptions<T> {
  readonly client: KubernetesClient;
  /** `/api/v1/pods` */
  readonly path: string;
  readonly fieldSelector?: string;
  readonly clock: Clock;
  /** 0 to 1. */
  readonly random: () => number;
  /** Reads what is kept of an object, once for each of its versions. Never throws. */
  readonly read: (object: ApiObject) => T;
  /**
   * The copy has changed: all of it, by UID.
   * @param uid of the one object that has come, changed or gone; absent: any may have
   */
  readonly onChange: (objects: ReadonlyMap<string, T>, uid?: string) => void;
  /** Something went wrong and is tried again; undefined when all is well again. */
  readonly onTrouble: (error: unknown) => void;
}

const pageSize = 500;
/** Seconds; servers end a watch by themselves, at a moment that differs so that not all come back at once. */
const watchSeconds = 300;
const firstPause = 500;
const longestPause = 30_000;

/** Runs until the signal. */
export async function runInformer<T>(options: InformerOptions<T>, signal: AbortSignal): Promise<void> {
  const copy: Copy<T> = { objects: new Map(), version: undefined };
  let pause = firstPause;
  while (!signal.aborted) {
    const watch: Watch = { openedAt: undefined, heard: false };
    try {
      if (copy.version === undefined) {
        await listAll(options, copy, signal);
        pause = firstPause;
        options.onTrouble(undefined);
      }
      await follow(options, copy, watch, signal);
      if (isShort(watch, options.clock)) throw new Error('the API server ends each watch at once');
      pause = firstPause;
    } catch (error) {
      if (signal.aborted) return;
      if (!isShort(watch, options.clock)) pause = firstPause;
      const isWatchGone = isGone(error) && copy.version !== undefined;
      copy.version = isGone(error) ? undefined : copy.version;
      if (isWatchGone) {
        // A server that has just started tells all nodes at once, and each will ask for a list.
        await options.clock.sleep(firstPause * options.random(), signal).catch(() => undefined);
        continue;
      }
      options.onTrouble(error);
      await options.clock.sleep(pause * (1 + options.random() / 2), signal).catch(() => undefined);
      pause = Math.min(pause * 2, longestPause);
    }
  }
}

interface Watch {
  /** Elapsed time; undefined when the server has not let it begin. */
  openedAt: number | undefined;
  heard: boolean;
}

/** Milliseconds. */
const shortestWatch = 1000;

/** It never began, or ended before anything could be heard: to ask again at once would be a storm of requests. */
function isShort({ openedAt, heard }: Watch, clock: Clock): boolean {
  return !heard && (openedAt === undefined || clock.elapsed() - openedAt < shortestWatch);
}

interface Copy<T> {
  objects: Map<string, T>;
  /** The version of the copy; undefined when it must be made anew. */
  version: string | undefined;
}

async function listAll<T>(
  { client, path, fieldSelector, read, onChange }: InformerOptions<T>,
  copy: Copy<T>,
  signal: AbortSignal,
): Promise<void> {
  const objects = new Map<string, T>();
  let next: string | undefined;
  let version: string;
  do {
    const query = { fieldSelector, limit: pageSize, continue: next };
    const page: ApiList = await client.request('GET', path, { signal, query });
    for (const item of page.items ?? []) objects.set(item.metadata.uid, read(item));
    version = page.metadata.resourceVersion;
    next = page.metadata.continue || undefined;
  } while (next !== undefined);
  copy.objects = objects;
  copy.version = version;
  onChange(objects);
}

async function follow<T>(
  options: InformerOptions<T>,
  copy: Copy<T>,
  watch: Watch,
  signal: AbortSignal,
): Promise<void> {
  const { client, path, fieldSelector, clock, random, read, onChange, onTrouble } = options;
  const onOpen = (): void => {
    watch.openedAt = clock.elapsed();
    onTrouble(undefined);
  };
  const query = {
    fieldSelector,
    watch: 'true',
    allowWatchBookmarks: 'true',
    resourceVersion: copy.version,
    timeoutSeconds: Math.round(watchSeconds * (1 + random())),
  };
  for await (const event of client.watch<WatchEvent>(path, { signal, query, onOpen })) {
    if (event.type === 'ERROR') {
      const { code = 500, reason = '', message = 'the watch failed' } = event.object;
      throw new KubernetesError(code, reason, message);
    }
    watch.heard = true;
    copy.version = event.object.metadata.resourceVersion;
    if (event.type === 'BOOKMARK') continue;
    const { uid } = event.object.metadata;
    if (event.type === 'DELETED') copy.objects.delete(uid);
    else copy.objects.set(uid, read(event.object));
    onChange(copy.objects, uid);
  }
}

function isGone(error: unknown): boolean {
  return error instanceof KubernetesError && (error.status === 410 || error.reason === 'Expired');
}
