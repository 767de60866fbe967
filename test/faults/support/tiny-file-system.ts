/** A real file system that can be filled up. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

export interface TinyFileSystem {
  readonly directory: string;
  /** Uses up every byte or every inode that is left, and returns how to give them back. */
  exhaust(what: 'bytes' | 'inodes'): () => void;
  /** Also happens when the process exits. */
  unmount(): void;
}

/** Mounts a tmpfs of 256 KiB and 64 inodes below the temporary directory. */
export function mountTinyFileSystem(): TinyFileSystem {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'pwt-fs-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=256k,nr_inodes=64,mode=700', 'podwire-test', directory]);
  const unmount = (): void => {
    process.off('exit', unmount);
    execFileSync('umount', ['--lazy', directory]);
    fs.rmdirSync(directory);
  };
  process.on('exit', unmount);
  const filler = path.join(directory, 'filler');
  return {
    directory,
    unmount,
    exhaust(what) {
      if (what === 'bytes') assert.throws(() => writeForever(filler), { code: 'ENOSPC' });
      else assert.throws(() => makeFilesForever(filler), { code: 'ENOSPC' });
      return () => fs.rmSync(filler, { recursive: true });
    },
  };
}

function writeForever(file: string): never {
  const descriptor = fs.openSync(file, 'w', 0o600);
  try {
    const page = Buffer.alloc(4096);
    for (;;) fs.writeSync(descriptor, page);
  } finally {
    fs.closeSync(descriptor);
  }
}

function makeFilesForever(directory: string): never {
  fs.mkdirSync(directory);
  for (let number = 0; ; number += 1) fs.writeFileSync(path.join(directory, `${number}`), '');
}
