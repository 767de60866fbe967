import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { createTestClock } from '@podwire/platform/testing';
import { onTestFinished } from 'vitest';
import { type OpenshiftCniServerOptions, type PodHandler, startOpenshiftCniServer } from '../src/index.js';
import { configJson, date } from './recorded.js';

export interface Logged {
  readonly level: string;
  readonly fields: Record<string, unknown>;
  readonly message: string;
}

export function makeDirectory(): string {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'podwire-openshift-'));
  onTestFinished(() => fs.rmSync(directory, { recursive: true, force: true }));
  return directory;
}

export type Options = Partial<Omit<OpenshiftCniServerOptions, 'log'>>;

/** A server in a new directory, at the time of the recorded answers. It has published nothing. */
export async function listen(handle: PodHandler, options: Options = {}) {
  const directory = path.join(makeDirectory(), 'openshift-sdn/cniserver');
  const logged: Logged[] = [];
  const write = (level: string) => (fields: object, message: string) =>
    void logged.push({ level, fields: fields as Record<string, unknown>, message });
  const log = { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
  const server = await startOpenshiftCniServer({
    ...{ directory, handle, log, deadline: 30_000, maxConnections: 10, hostVeth: 'required' },
    clock: createTestClock({ epoch: Date.parse(date) }),
    peerCredentials: () => ({ pid: 1, uid: 0, gid: 0 }),
    ...options,
  });
  onTestFinished(() => server.stop(0));
  return { server, logged, directory: options.directory ?? directory };
}

/** The same, with the config.json that was recorded. */
export async function startServer(handle: PodHandler, options: Options = {}) {
  const started = await listen(handle, options);
  const { mtu, serviceNetworkCIDR } = JSON.parse(configJson) as { mtu: number; serviceNetworkCIDR: string };
  started.server.publish({ mtu, serviceNetworkCidr: serviceNetworkCIDR });
  return started;
}

/** Sends bytes, and returns what comes until the server closes. */
export function exchange(directory: string, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = net.connect(path.join(directory, 'socket'), () => socket.write(bytes));
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('error', reject);
    socket.on('close', () => resolve(Buffer.concat(chunks).toString()));
  });
}

/** A request as Go's client writes it. */
export const httpRequest = (body: string, target = '/', method = 'POST'): string =>
  `${method} ${target} HTTP/1.1\r\nHost: dummy\r\nUser-Agent: Go-http-client/1.1\r\n` +
  `Content-Length: ${Buffer.byteLength(body)}\r\nContent-Type: application/json\r\n` +
  `Accept-Encoding: gzip\r\n\r\n${body}`;
