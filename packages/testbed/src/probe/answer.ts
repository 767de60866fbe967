/** What everybody answers: who it is and whom it sees, and then what it was sent. */
import dgram from 'node:dgram';
import fs from 'node:fs';
import net, { type AddressInfo } from 'node:net';
import { addressToBytes, parseAddress } from '@podwire/addresses';
import { bindAddress, type Family, openDatagramSocket, openStreamSocket } from '@podwire/linux';
import type { Station } from './party.js';

export interface Greeting {
  readonly name: string;
  /** The address of who asks, as it is seen here. */
  readonly seen: string;
}

/** The ports at which a station answers, for one family. */
export interface Answering {
  readonly tcp: number;
  readonly udp: number;
  close(): void;
}

/**
 * On ports that the kernel chooses: nothing of the station's own is in the way.
 * @throws SystemError EADDRNOTAVAIL when the station has not got its address
 */
export async function answerAt(station: Station, family: Family): Promise<Answering> {
  const udp = serveUdp(station, family);
  const tcp = await serveTcp(station, family);
  return {
    tcp: (tcp.address() as AddressInfo).port,
    udp: udp.address().port,
    close() {
      tcp.close();
      udp.close();
    },
  };
}

/** A line of JSON, then an echo (RFC 862). */
async function serveTcp({ name, namespace }: Station, family: Family): Promise<net.Server> {
  const server = net.createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => undefined);
    socket.write(`${JSON.stringify({ name, seen: socket.remoteAddress ?? '' } satisfies Greeting)}\n`);
    socket.pipe(socket);
  });
  const fd = namespace.inside(() => openStreamSocket(family));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen({ fd }, () => resolve());
  });
  return server.unref();
}

/**
 * JSON, filled up to the length of the question. Its answers have DF too. Bound to the address that is asked: behind the wildcard
 * address, the kernel would answer with that of the link on which the answer leaves.
 */
function serveUdp({ name, namespace, addresses }: Station, family: Family): dgram.Socket {
  const fd = namespace.inside(() => openDatagramSocket(family, { dontFragment: 'own link' }));
  try {
    bindAddress(fd, addressToBytes(parseAddress(addresses[family] ?? '')));
  } catch (error) {
    fs.closeSync(fd);
    throw error;
  }
  const socket = dgram.createSocket(`udp${family}`).bind({ fd });
  socket.on('message', (question, from) => {
    const answer = Buffer.alloc(question.length, ' ');
    answer.write(JSON.stringify({ name, seen: from.address } satisfies Greeting));
    socket.send(answer, from.port, from.address, () => undefined);
  });
  return socket.on('error', () => undefined).unref();
}
