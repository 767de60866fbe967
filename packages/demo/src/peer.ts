/**
 * The process in a pod: answers over TCP and UDP who it is and whom it sees, and asks others when it is told to over its
 * IPC channel. Started as a program of its own, with what it is as JSON in its argument.
 */
import dgram from 'node:dgram';
import net from 'node:net';
import type { PeerAnswer, PeerMessage, PeerOrder, PeerPort, PeerSettings } from './peer-messages.js';

const settings = JSON.parse(process.argv[2] ?? '{}') as PeerSettings;
const deadlineMilliseconds = 2_000;
const udpAttempts = 3;
const swallow = 'swallow\n';

const describePeer = (address = '', port = 0): PeerAnswer => ({
  name: settings.name,
  seen: { address, port },
});

/** `[::ffff:192.0.2.1]`, which some servers write, is 192.0.2.1. */
function readAnswer(text: string): PeerAnswer {
  const { name, seen } = JSON.parse(text) as PeerAnswer;
  const address = seen.address.replace(/^\[(.*)\]$/, '$1').replace(/^::ffff:/, '');
  return { name, seen: { ...seen, address } };
}

/** HTTP is answered, `swallow` lets it count what follows. */
function serveConnection(socket: net.Socket): void {
  const answer = `${JSON.stringify(describePeer(socket.remoteAddress, socket.remotePort))}\n`;
  socket.on('error', () => undefined);
  socket.once('data', (first) => {
    const text = first.toString('latin1');
    if (text.startsWith(swallow)) countUntilEnd(socket, first.length);
    else socket.end(`HTTP/1.0 200 OK\r\ncontent-type: application/json\r\n\r\n${answer}`);
  });
}

/** The receiver's clock counts: a sender only knows when it has filled its queues. */
function countUntilEnd(socket: net.Socket, already: number): void {
  const begin = performance.now();
  let bytes = already;
  socket.on('data', (chunk) => (bytes += chunk.length));
  socket.once('end', () =>
    socket.end(`${JSON.stringify({ bytes, milliseconds: performance.now() - begin })}\n`),
  );
}

/** Both families on one socket; on a kernel without IPv6, IPv4 alone. */
function listenTcp(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = net.createServer({ allowHalfOpen: true }, serveConnection);
    server.once('error', reject).listen(port, () => resolve());
  });
}

function listenUdp(port: number, type: 'udp6' | 'udp4' = 'udp6'): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = dgram.createSocket(type);
    socket.on('message', (_, from) => {
      socket.send(
        JSON.stringify(describePeer(from.address, from.port)),
        from.port,
        from.address,
        () => undefined,
      );
    });
    socket.once('error', (error) => {
      if (type === 'udp6' && !isTaken(error)) listenUdp(port, 'udp4').then(resolve, reject);
      else reject(error);
    });
    socket.bind(port, () => resolve());
  });
}

const isTaken = (error: NodeJS.ErrnoException): boolean => error.code === 'EADDRINUSE';

async function listen({ protocol, port, unlessTaken = false }: PeerPort): Promise<void> {
  try {
    await (protocol === 'tcp' ? listenTcp(port) : listenUdp(port));
  } catch (error) {
    if (!unlessTaken || !isTaken(error as NodeJS.ErrnoException)) throw error;
  }
}

function connect(address: string, port: number): net.Socket {
  const socket = net.connect({ host: address, port, allowHalfOpen: true });
  const deadline = setTimeout(() => socket.destroy(new Error('no answer')), deadlineMilliseconds);
  socket.once('close', () => clearTimeout(deadline));
  return socket;
}

/** Reads until the other end closes. */
function readAll(socket: net.Socket): Promise<string> {
  let text = '';
  return new Promise((resolve, reject) => {
    socket.setEncoding('utf8').on('data', (part: string) => (text += part));
    socket.once('error', reject);
    socket.once('end', () => {
      socket.end();
      resolve(text);
    });
  });
}

/** Of another peer, or of the pod's own web server: examples/web.yaml has this page. */
async function askTcp(address: string, port: number): Promise<PeerAnswer> {
  const socket = connect(address, port);
  socket.write('GET /cgi-bin/who HTTP/1.0\r\n\r\n');
  const text = await readAll(socket);
  return readAnswer(text.slice(text.indexOf('\r\n\r\n')));
}

/** A connected socket, so that an answer from any other address than the one that was asked does not count. */
function askUdp(address: string, port: number): Promise<PeerAnswer> {
  return new Promise((resolve, reject) => {
    const socket = dgram.createSocket(address.includes(':') ? 'udp6' : 'udp4');
    let attempts = 0;
    let timer: NodeJS.Timeout;
    const finish = (end: () => void): void => {
      clearTimeout(timer);
      socket.close();
      end();
    };
    const attempt = (): void => {
      attempts += 1;
      if (attempts > udpAttempts) return finish(() => reject(new Error('no answer')));
      timer = setTimeout(attempt, deadlineMilliseconds / udpAttempts);
      socket.send('who', () => undefined);
    };
    socket.once('error', (error) => finish(() => reject(error)));
    socket.once('message', (data) => finish(() => resolve(readAnswer(data.toString('utf8')))));
    socket.connect(port, address, attempt);
  });
}

async function pour(
  address: string,
  port: number,
  bytes: number,
): Promise<{ bytes: number; milliseconds: number }> {
  const socket = net.connect({ host: address, port, allowHalfOpen: true });
  socket.setTimeout(4 * deadlineMilliseconds, () => socket.destroy(new Error('no answer')));
  const answer = readAll(socket);
  socket.write(swallow);
  socket.end(Buffer.alloc(bytes));
  return JSON.parse(await answer) as { bytes: number; milliseconds: number };
}

async function obey(order: PeerOrder): Promise<unknown> {
  const { address, port } = order;
  if (order.kind === 'pour') return pour(address, port, order.bytes);
  return order.protocol === 'tcp' ? askTcp(address, port) : askUdp(address, port);
}

const tell = (message: PeerMessage): void => void process.send?.(message);

let mayStay = false;

process.on('message', (order: PeerOrder | 'stay') => {
  if (order === 'stay') {
    mayStay = true;
    process.disconnect();
    return;
  }
  const begin = performance.now();
  obey(order).then(
    (value) => tell({ id: order.id, value, milliseconds: performance.now() - begin }),
    (error: Error) => tell({ id: order.id, error: error.message, milliseconds: performance.now() - begin }),
  );
});
// The parent ended without permission for it to stay.
process.on('disconnect', () => {
  if (!mayStay) process.exit(0);
});

await Promise.all(settings.ports.map(listen));
tell('ready');
