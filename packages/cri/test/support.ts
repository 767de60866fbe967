import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import {
  connectCri,
  type ConnectOptions,
  type CriConnection,
  type CriRuntime,
  type CriServer,
  PodSandboxConfig,
  serveCri,
  type ServeOptions,
} from '../src/index.js';

/** A path for a socket, in a directory that goes when the test is over. */
export function makeSocketPath(): string {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'pwt-cri-'));
  onTestFinished(() => fs.rmSync(directory, { recursive: true, force: true }));
  return path.join(directory, 'cri.sock');
}

export async function serve(runtime: CriRuntime, options: Partial<ServeOptions> = {}): Promise<CriServer> {
  const server = await serveCri(runtime, { socket: makeSocketPath(), ...options });
  onTestFinished(() => server.close(0));
  return server;
}

export async function connect(socket: string, options: Partial<ConnectOptions> = {}): Promise<CriConnection> {
  const connection = await connectCri({ socket, ...options });
  onTestFinished(() => connection.close());
  return connection;
}

export const podConfig = (name = 'web'): PodSandboxConfig =>
  PodSandboxConfig.fromPartial({ metadata: { name, namespace: 'default', uid: `uid-${name}` } });
