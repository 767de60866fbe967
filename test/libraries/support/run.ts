import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { createNamespace, deleteNamespace } from '@podwire/linux';

export const root = path.resolve(import.meta.dirname, '../../../..');

const execute = promisify(execFile);

/** Runs a program, and gives what it wrote to both streams. */
export async function run(cwd: string, program: string, ...args: readonly string[]): Promise<string> {
  const { stdout, stderr } = await execute(program, args, { cwd, timeout: 180_000, maxBuffer: 8 << 20 });
  return stdout + stderr;
}

let count = 0;

/** A network namespace of its own; its loopback is down. */
export async function withNamespace<T>(work: (name: string, file: string) => Promise<T>): Promise<T> {
  const file = `/run/netns/library-${process.pid}-${count++}`;
  createNamespace(file);
  try {
    return await work(path.basename(file), file);
  } finally {
    deleteNamespace(file);
  }
}
