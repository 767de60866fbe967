import fs from 'node:fs';
import net, { type Socket } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';

/** A directory that goes when the test is over. */
export function makeDirectory(): string {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'podwire-api-'));
  onTestFinished(() => fs.rmSync(directory, { recursive: true, force: true }));
  return directory;
}

export async function connect(file: string): Promise<Socket> {
  const socket = net.connect({ path: file });
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', reject);
  });
  onTestFinished(() => void socket.destroy());
  return socket;
}
