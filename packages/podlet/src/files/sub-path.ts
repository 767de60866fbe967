/**
 * The subPath of a volume, safe against a container that puts a symbolic link in its place to see the node's own files
 * (CVE-2017-1002101, CVE-2021-25741). The path is resolved and checked, then walked part by part without following
 * links, each from the open directory before it; the file that this ends at is bound to a place of our own, and only that
 * place is shown to the runtime.
 */
import { hasCode, ifExists } from '@podwire/platform';
import { constants } from 'node:fs';
import fs, { type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { isMountPoint, type Mounts } from './mounts.js';

/** O_PATH of open(2), which Node does not list: opens sockets and devices, too, without touching them. */
const O_PATH = 0o10000000;
const openPart = O_PATH | constants.O_NOFOLLOW;

export interface SubPathOptions {
  /** Of the volume. */
  readonly volume: string;
  readonly subPath: string;
  /** Made as a directory where nothing is; with false that is an error. */
  readonly create: boolean;
}

/** Binds what the subPath names to `target`. Idempotent. @throws Error in words for people */
export async function bindSubPath(options: SubPathOptions, target: string, mounts: Mounts): Promise<void> {
  const handle = await openSubPath(options);
  try {
    if (await isBound(handle, target, mounts)) return;
    await makeTarget(target, (await handle.stat()).isDirectory());
    mounts.bindMount(throughHandle(handle), target);
  } finally {
    await handle.close();
  }
}

function throughHandle(handle: FileHandle): string {
  return `/proc/self/fd/${handle.fd}`;
}

/** The bind mount of an earlier start may show another file by now: then it is removed. */
async function isBound(handle: FileHandle, target: string, mounts: Mounts): Promise<boolean> {
  try {
    if (!(await isMountPoint(mounts, target))) return false;
    const [wanted, bound] = [await handle.stat(), await fs.stat(target)];
    if (wanted.dev === bound.dev && wanted.ino === bound.ino) return true;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false;
    throw error;
  }
  mounts.unmount(target);
  return false;
}

async function makeTarget(target: string, isDirectory: boolean): Promise<void> {
  await fs.mkdir(path.dirname(target), { recursive: true, mode: 0o750 });
  // A target of the other kind is left from an earlier start. Both are empty, or this fails.
  const present = await fs.lstat(target).catch(() => undefined);
  if (present !== undefined && present.isDirectory() !== isDirectory) {
    await (present.isDirectory() ? fs.rmdir(target) : fs.unlink(target));
  }
  if (isDirectory) return void (await fs.mkdir(target, { recursive: true, mode: 0o750 }));
  await (await fs.open(target, 'a', 0o640)).close();
}

async function openSubPath({ volume, subPath, create }: SubPathOptions): Promise<FileHandle> {
  const parts = subPath.split('/').filter((part) => part !== '' && part !== '.');
  if (subPath.startsWith('/') || parts.includes('..')) {
    throw new Error(`subPath ${JSON.stringify(subPath)} leads out of the volume`);
  }
  const root = await fs.realpath(volume);
  const { existing, missing } = await resolveWithin(root, parts, subPath);
  if (missing.length > 0 && !create) throw new Error(`subPath ${subPath} does not exist in the volume`);
  return walk(root, existing, missing);
}

interface Resolved {
  /** Parts below the root, without any link. */
  readonly existing: readonly string[];
  readonly missing: readonly string[];
}

async function resolveWithin(root: string, parts: readonly string[], subPath: string): Promise<Resolved> {
  for (let count = parts.length; ; count--) {
    const real = await ifExists(fs.realpath(path.join(root, ...parts.slice(0, count))));
    if (real === undefined) continue;
    if (real !== root && !real.startsWith(withSlash(root))) {
      throw new Error(`subPath ${subPath} leads out of the volume through a symbolic link`);
    }
    const existing = path.relative(root, real).split('/').filter(Boolean);
    return { existing, missing: parts.slice(count) };
  }
}

function withSlash(directory: string): string {
  return directory.endsWith('/') ? directory : `${directory}/`;
}

/** The root itself is always there, so that the search ends. */
async function walk(
  root: string,
  existing: readonly string[],
  missing: readonly string[],
): Promise<FileHandle> {
  let handle = await fs.open(root, O_PATH);
  try {
    // With set-group-id, so that the pod's fsGroup owns what is made here, too.
    const mode = (await handle.stat()).mode & 0o2777;
    for (const part of existing) handle = await step(handle, part);
    for (const part of missing) {
      // A link that dangles exists, and so fails here.
      await fs.mkdir(`${throughHandle(handle)}/${part}`);
      handle = await step(handle, part);
      // mkdir(2) heeds the umask; a container that runs as another user may write where it may write in the volume.
      await fs.chmod(throughHandle(handle), mode);
    }
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function step(from: FileHandle, part: string): Promise<FileHandle> {
  const next = await fs.open(`${throughHandle(from)}/${part}`, openPart);
  if ((await next.stat()).isSymbolicLink()) {
    await next.close();
    throw new Error(`${part} of the subPath has become a symbolic link`);
  }
  await from.close();
  return next;
}
