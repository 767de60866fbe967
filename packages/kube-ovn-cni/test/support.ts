import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { createTestClock } from '@podwire/platform/testing';
import { onTestFinished } from 'vitest';
import {
  type CniResponse,
  type KubeOvnCniOptions,
  type KubeOvnHandlers,
  serveKubeOvnCni,
} from '../src/index.js';
import { date, podBody } from './recorded.js';

/** The body of a request with other values for some keys; a key whose value is undefined is left out. */
export const changed = (changes: Readonly<Record<string, unknown>>): string =>
  JSON.stringify({ ...(JSON.parse(podBody) as object), ...changes });

export const response4: CniResponse = {
  ...{ protocol: 'IPv4', ipAddress: '100.100.0.3', macAddress: '00:00:00:B8:58:AB', cidr: '100.100.0.0/16' },
  ...{ gateway: '100.100.0.1', mtu: 0, podNicName: 'eth0', err: '' },
};
export const responseDual: CniResponse = {
  ...{ protocol: 'Dual', ipAddress: '10.16.0.9,fd00:10:16::9', macAddress: '00:00:00:B8:58:AB' },
  ...{ cidr: '10.16.0.0/16,fd00:10:16::/112', gateway: '10.16.0.1,fd00:10:16::1', mtu: 0 },
  ...{ podNicName: 'eth0', err: '' },
};

export function makeDirectory(): string {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'podwire-kube-ovn-'));
  onTestFinished(() => fs.rmSync(directory, { recursive: true, force: true }));
  return directory;
}

export interface Logged {
  readonly level: string;
  readonly fields: Record<string, unknown>;
  readonly message: string;
}

/** A server in a new directory, at the time of the recorded answers. */
export async function startServer(
  handlers: Partial<KubeOvnHandlers> = {},
  options: Partial<Omit<KubeOvnCniOptions, 'log' | 'handlers'>> = {},
) {
  const logged: Logged[] = [];
  const write = (level: string) => (fields: object, message: string) =>
    void logged.push({ level, fields: fields as Record<string, unknown>, message });
  const all = {
    ...{ socketPath: path.join(makeDirectory(), 'openvswitch/kube-ovn-daemon.sock') },
    ...{ deadline: 30_000, maxConnections: 10, clock: createTestClock({ epoch: Date.parse(date) }) },
    peerCredentials: () => ({ pid: 1, uid: 0, gid: 0 }),
    handlers: { add: () => Promise.resolve(response4), del: () => Promise.resolve(), ...handlers },
    log: { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') },
    ...options,
  };
  const server = await serveKubeOvnCni(all);
  onTestFinished(() => server.stop(0));
  return { server, logged, socketPath: all.socketPath };
}

/** A connection that can be asked several times. */
export interface Client {
  /** Sends bytes, and returns the answer once it is whole. */
  readonly ask: (bytes: string) => Promise<string>;
  readonly socket: net.Socket;
}

export async function connect(socketPath: string): Promise<Client> {
  const socket = net.connect(socketPath);
  onTestFinished(() => void socket.destroy());
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  socket.on('error', () => undefined);
  const ask = (bytes: string): Promise<string> =>
    new Promise((resolve) => {
      let received = '';
      const take = (chunk: Buffer): void => {
        received += chunk.toString();
        if (isWhole(received)) end();
      };
      const end = (): void => {
        socket.off('data', take).off('close', end);
        resolve(received);
      };
      socket.on('data', take).once('close', end);
      socket.write(bytes);
    });
  return { ask, socket };
}

/** One request on a connection of its own. */
export const ask = async (socketPath: string, bytes: string): Promise<string> =>
  (await connect(socketPath)).ask(bytes);

function isWhole(received: string): boolean {
  const [head = '', ...body] = received.split('\r\n\r\n');
  if (body.length === 0) return false;
  const length = Number(/^Content-Length: (\d+)$/m.exec(head)?.[1] ?? 0);
  return Buffer.byteLength(body.join('\r\n\r\n')) >= length;
}
