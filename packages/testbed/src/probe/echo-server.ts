/** Server side of the TCP and UDP probes: answers with its name, the source address that it sees, and an echo. */
import dgram from 'node:dgram';
import fs from 'node:fs';
import net, { type AddressInfo } from 'node:net';
import { addressToBytes, type Family, parseAddress } from '@podwire/addresses';
import { bindAddress, openDatagramSocket, openStreamSocket } from '@podwire/linux';
import type { Station } from './participant.js';

export interface Greeting {
  readonly name: string;
  /** Source address of the request, as the server sees it. */
  readonly seen: string;
}

/** A station's echo servers for one family. */
export interface EchoServer {
  readonly tcp: number;
  readonly udp: number;
  close(): void;
}

/**
 * The kernel chooses the ports, so that they collide with no server of the station.
 * @throws SystemError EADDRNOTAVAIL when the station does not have its address
 */
export async function serveEcho(station: Station, family: Family): Promise<EchoServer> {
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
 * Answers with JSON, padded to the length of the request, with DF. Bound to the probed address: with a wildcard socket the
 * kernel would take the source address from the link on which the answer leaves.
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
