import fs from 'node:fs';
import type { Exec } from '../exec/exec.js';
import { requestLimits } from '../json.js';

/** The streams that a plugin writes to. */
export interface Sink {
  write(text: string): unknown;
}

/** Everything a plugin has of the outside; tests pass their own. */
export interface PluginIo {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Read once, and not at all for VERSION. */
  readonly stdin: Uint8Array | (() => Uint8Array | Promise<Uint8Array>);
  readonly stdout: Sink;
  readonly stderr: Sink;
  /** Called once, last, with 0 or 1. */
  readonly exit: (code: number) => void;
  /** True if the path is the network namespace that the plugin itself runs in. */
  readonly isOwnNamespace?: (path: string) => boolean | Promise<boolean>;
  /** How delegated plugins are run. */
  readonly exec?: Exec;
}

/** The process's own. Standard output is written synchronously on Linux, so exiting right after loses nothing. */
export function processIo(): PluginIo {
  return {
    env: process.env,
    stdin: readStandardInput,
    stdout: process.stdout,
    stderr: process.stderr,
    exit: (code) => process.exit(code),
    isOwnNamespace: isOwnNetworkNamespace,
  };
}

/** One byte more than may be read tells "too large" without reading all of it. */
const MAX_INPUT = requestLimits.maxBytes + 1;

/** Plain reads of descriptor 0: opening `process.stdin` as a stream costs milliseconds of a plugin's start. */
async function readStandardInput(): Promise<Uint8Array> {
  const buffer = Buffer.alloc(MAX_INPUT);
  let size = 0;
  try {
    for (let got = -1; got !== 0 && size < MAX_INPUT; size += got)
      got = fs.readSync(0, buffer, size, MAX_INPUT - size, null);
    return buffer.subarray(0, size);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EOF') return buffer.subarray(0, size);
    if (code !== 'EAGAIN') throw error;
    return readStream(buffer.subarray(0, size));
  }
}

/** For a descriptor that another process made non-blocking. */
async function readStream(begun: Buffer): Promise<Uint8Array> {
  const chunks: Buffer[] = [begun];
  let size = begun.length;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= MAX_INPUT) break;
  }
  return Buffer.concat(chunks);
}

/** Two files are one namespace when device and inode agree (namespaces(7)). A path that is gone is none. */
export function isOwnNetworkNamespace(path: string): boolean {
  const [theirs, ours] = [path, '/proc/self/ns/net'].map((file) =>
    fs.statSync(file, { throwIfNoEntry: false }),
  );
  return theirs !== undefined && theirs.ino === ours?.ino && theirs.dev === ours.dev;
}
