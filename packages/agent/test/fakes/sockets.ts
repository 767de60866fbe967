import fs from 'node:fs';
import net, { type Socket } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';

/** A directory that goes when the test is over. */
export function makeDirectory(): string {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'podwire-agent-'));
  onTestFinished(() => fs.rmSync(directory, { recursive: true, force: true }));
  return directory;
}

export async function connect(file: string): Promise<Socket> {
  const socket = net.connect({ path: file, allowHalfOpen: true });
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', reject);
  });
  onTestFinished(() => void socket.destroy());
  return socket;
}

/** Everything until the other side closes. A broken connection is the end too. */
export function readAll(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('error', () => undefined);
    const finish = (): void => resolve(Buffer.concat(chunks).toString());
    socket.once('end', finish);
    socket.once('close', finish);
  });
}

/** Sends the bytes as a plugin does, closes its side, and returns the answer. */
export async function exchange(file: string, request: Uint8Array): Promise<string> {
  const socket = await connect(file);
  const answer = readAll(socket);
  socket.end(request);
  return answer;
}
