/** Questions over TCP and UDP. */
import { randomBytes } from 'node:crypto';
import dgram from 'node:dgram';
import { type Family, openDatagramSocket, readLinkMtu, readPathMtu } from '@podwire/linux';
import type { TestbedNamespace } from '../net/namespaces.js';
import { connectFrom, familyOf } from '../net/sockets.js';
import type { Greeting } from './answer.js';

/** Where a question goes, and how long it waits. */
export interface Target {
  readonly address: string;
  readonly port: number;
  /** Milliseconds. */
  readonly deadline: number;
  /**
   * For datagrams: they are as large as this link allows, which must be narrow enough for every path. Absent: as large as the path
   * allows, and smaller when a router says so: a node's own link is wider than those of pods.
   */
  readonly link?: string;
}

export interface Answer extends Greeting {
  /** Bytes that went and came back. */
  readonly bytes: number;
}

/** Several packets of any usual size. */
const payload = randomBytes(8192);

/** @throws Error in words: `connection refused`, `no answer within 1000 ms` */
export function askTcp(from: TestbedNamespace, { address, port, deadline }: Target): Promise<Answer> {
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
    socket.once('error', (error) => reject(inWords(error)));
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
    throw new Error(`what came back is not what was sent: ${echo.length} bytes of ${payload.length}`);
  return { ...(JSON.parse(received.toString('utf8', 0, line)) as Greeting), bytes: echo.length };
}

/** What routers said once must not hide that a path is too narrow for a link. */
export const fragmentsFor = (link: string | undefined): true | 'own link' =>
  link === undefined ? true : 'own link';

/** What fits, headers included. */
export const mtuOf = (fd: number, family: Family, link: string | undefined): number =>
  link === undefined ? readPathMtu(fd, family) : readLinkMtu(fd, link);

/** IP and UDP headers. */
const headerBytes = { 4: 28, 6: 48 } as const;
export const attempts = 3;

/**
 * One datagram as large as the path allows, unfragmented, and one of the same size back. A connected socket, so that an answer
 * from another address does not count and an ICMP error is heard. Asks again: a first packet may be lost while neighbours
 * are looked up.
 * @throws Error in words
 */
export function askUdp(from: TestbedNamespace, { address, port, deadline, link }: Target): Promise<Answer> {
  const family: Family = familyOf(address);
  const fd = from.inside(() => openDatagramSocket(family, { dontFragment: fragmentsFor(link) }));
  const socket = dgram.createSocket(`udp${family}`).bind({ fd });
  return new Promise<Answer>((resolve, reject) => {
    let size = 0;
    const timers: NodeJS.Timeout[] = [];
    const fail = (error: Error): void => finish(() => reject(inWords(error, size)));
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
  ECONNREFUSED: 'refused: nobody listens there',
  ECONNRESET: 'the connection was reset',
  EHOSTUNREACH: 'the host cannot be reached (EHOSTUNREACH)',
  ENETUNREACH: 'there is no route (ENETUNREACH)',
  EACCES: 'prohibited by a router (EACCES)',
  EPERM: 'prohibited by a firewall of its own (EPERM)',
  EADDRNOTAVAIL: 'the address is not there (EADDRNOTAVAIL)',
};

/** What the error means for somebody who looks at the network. */
export function inWords(error: Error, size?: number): Error {
  const { code = '' } = error as NodeJS.ErrnoException;
  if (code === 'EMSGSIZE' && size !== undefined)
    return new Error(
      `a datagram of ${size} bytes, as large as the own link allows, does not fit the path (EMSGSIZE)`,
    );
  return new Error(words[code] ?? error.message);
}
