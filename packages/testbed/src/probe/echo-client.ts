/** Client side of the TCP and UDP probes. */
import { randomBytes } from 'node:crypto';
import dgram from 'node:dgram';
import { type Family, familyOf } from '@podwire/addresses';
import { openDatagramSocket, readLinkMtu, readPathMtu } from '@podwire/linux';
import type { TestbedNamespace } from '../net/namespaces.js';
import { connectFrom } from '../net/sockets.js';
import type { Greeting } from './echo-server.js';

/** Destination and deadline of a probe. */
export interface Target {
  readonly address: string;
  readonly port: number;
  /** Milliseconds. */
  readonly deadline: number;
  /**
   * For datagrams: their size is this link's MTU, which every path must carry. Absent: the path MTU, reduced when a router
   * reports less (a node's own link has a larger MTU than pods' links).
   */
  readonly link?: string;
}

export interface Answer extends Greeting {
  /** Bytes of payload, each way. */
  readonly bytes: number;
}

/** More than one packet at any common MTU. */
const payload = randomBytes(8192);

/** @throws Error with a readable message: `connection refused`, `no answer within 1000 ms` */
export function probeTcp(from: TestbedNamespace, { address, port, deadline }: Target): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const socket = connectFrom(from, address, port);
    const chunks: Buffer[] = [];
    let connected = false;
    const timer = setTimeout(() => {
      const got = chunks.reduce((sum, { length }) => sum + length, 0);
      const stalled = `connected, then nothing: ${got} bytes of ${payload.length} came back within ${deadline} ms`;
      socket.destroy(new Error(connected ? stalled : `no answer within ${deadline} ms`));
    }, deadline);
    socket.once('connect', () => {
      connected = true;
      socket.end(payload);
    });
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.once('error', (error) => reject(describeSocketError(error)));
    socket.once(
      'end',
      () => void Promise.resolve(Buffer.concat(chunks)).then(readEcho).then(resolve, reject),
    );
    socket.once('close', () => clearTimeout(timer));
  });
}

function readEcho(received: Buffer): Answer {
  const line = received.indexOf('\n');
  const echo = received.subarray(line + 1);
  if (line < 0 || !echo.equals(payload))
    throw new Error(`the echo differs from what was sent: ${echo.length} bytes of ${payload.length}`);
  return { ...(JSON.parse(received.toString('utf8', 0, line)) as Greeting), bytes: echo.length };
}

/** A path MTU that the kernel has cached must not hide that a path is too narrow for the link. */
export const fragmentsFor = (link: string | undefined): true | 'own link' =>
  link === undefined ? true : 'own link';

/** The largest packet, headers included. */
export const mtuOf = (fd: number, family: Family, link: string | undefined): number =>
  link === undefined ? readPathMtu(fd, family) : readLinkMtu(fd, link);

/** IP and UDP headers. */
const headerBytes = { 4: 28, 6: 48 } as const;
export const attempts = 3;

/**
 * Sends one datagram as large as the path allows, with DF, and expects one of the same size. The socket is connected: it
 * ignores answers from other addresses and reports ICMP errors. Retries, because the first packet may be lost while
 * neighbours are resolved.
 * @throws Error with a readable message
 */
export function probeUdp(from: TestbedNamespace, { address, port, deadline, link }: Target): Promise<Answer> {
  const family: Family = familyOf(address);
  const fd = from.inside(() => openDatagramSocket(family, { dontFragment: fragmentsFor(link) }));
  const socket = dgram.createSocket(`udp${family}`).bind({ fd });
  return new Promise<Answer>((resolve, reject) => {
    let size = 0;
    const timers: NodeJS.Timeout[] = [];
    const fail = (error: Error): void => finish(() => reject(describeSocketError(error, size)));
    const finish = (end: () => void): void => {
      for (const timer of timers) clearTimeout(timer);
      socket.removeAllListeners('error').on('error', () => undefined);
      socket.close();
      end();
    };
    const room = (): number => mtuOf(fd, family, link) - headerBytes[family];
    const failOrAdapt = (error: Error): void => {
      const narrower = room();
      if ((error as NodeJS.ErrnoException).code !== 'EMSGSIZE' || narrower >= size) return fail(error);
      size = narrower;
      send();
    };
    const send = (): void =>
      socket.send(Buffer.alloc(size, '?'), (error) => void (error && failOrAdapt(error)));
    socket.on('error', failOrAdapt);
    socket.once('message', (data) =>
      finish(() => void Promise.resolve(data).then(readDatagram).then(resolve, reject)),
    );
    socket.once('connect', () => {
      size = room();
      for (let count = 0; count < attempts; count++)
        timers.push(setTimeout(send, (count * deadline) / attempts));
    });
    timers.push(
      setTimeout(() => fail(new Error(`no answer within ${deadline} ms (${size} bytes)`)), deadline),
    );
    try {
      socket.connect(port, address);
    } catch (error) {
      fail(error as Error);
    }
  });
}

const readDatagram = (data: Buffer): Answer => ({
  ...(JSON.parse(data.toString('utf8').trimEnd()) as Greeting),
  bytes: data.length,
});

const words: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refused: no server listens on the port',
  ECONNRESET: 'the connection was reset',
  EHOSTUNREACH: 'the host cannot be reached (EHOSTUNREACH)',
  ENETUNREACH: 'there is no route (ENETUNREACH)',
  EACCES: 'prohibited by a router (EACCES)',
  EPERM: 'prohibited by a firewall of its own (EPERM)',
  EADDRNOTAVAIL: 'the address is not there (EADDRNOTAVAIL)',
};

/** Translates an errno into what it says about the network. */
export function describeSocketError(error: Error, size?: number): Error {
  const { code = '' } = error as NodeJS.ErrnoException;
  if (code === 'EMSGSIZE' && size !== undefined)
    return new Error(
      `a datagram of ${size} bytes, as large as the own link allows, does not fit the path (EMSGSIZE)`,
    );
  return new Error(words[code] ?? error.message);
}
