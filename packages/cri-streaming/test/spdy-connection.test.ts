import crypto from 'node:crypto';
import { once } from 'node:events';
import net from 'node:net';
import { pipeline } from 'node:stream/promises';
import { afterEach, describe, expect, test } from 'vitest';
import {
  createFrameDecoder,
  createHeaderCompressor,
  createSpdyConnection,
  encodeFrame,
  encodeHeaderBlock,
  type SpdyConnection,
  type SpdyConnectionOptions,
  type SpdyFrame,
  type SpdyStream,
} from '../src/spdy/index.js';
import { readAll } from './handlers.js';

const open: net.Socket[] = [];
afterEach(() => {
  for (const socket of open.splice(0)) socket.destroy();
});

/** The two ends of a TCP connection. */
async function connectPair(): Promise<[client: net.Socket, server: net.Socket]> {
  const listener = net.createServer().listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const client = net.connect((listener.address() as net.AddressInfo).port, '127.0.0.1');
  const [server] = (await once(listener, 'connection')) as [net.Socket];
  listener.close();
  for (const socket of [client, server]) socket.on('error', () => undefined);
  open.push(client, server);
  return [client, server];
}

/** Both ends ours. */
async function createPair(
  onStream: (stream: SpdyStream) => boolean,
  options: Partial<SpdyConnectionOptions> = {},
): Promise<{ client: SpdyConnection; server: SpdyConnection; serverSocket: net.Socket }> {
  const [clientSocket, serverSocket] = await connectPair();
  const server = createSpdyConnection(serverSocket, { role: 'server', onStream, ...options });
  const client = createSpdyConnection(clientSocket, { role: 'client', ...options });
  return { client, server, serverSocket };
}

interface RawPeer {
  send(...frames: readonly SpdyFrame[]): void;
  synStream(streamId: number, flags?: { fin?: boolean; unidirectional?: boolean }): void;
  /** All frames of a type that have come. */
  got<T extends SpdyFrame['type']>(type: T): (SpdyFrame & { type: T })[];
  readonly socket: net.Socket;
  readonly connection: SpdyConnection;
}

/** A server of ours, and a client that sends what it likes. */
async function createRawPeer(options: Partial<SpdyConnectionOptions> = {}): Promise<RawPeer> {
  const [socket, serverSocket] = await connectPair();
  const connection = createSpdyConnection(serverSocket, { role: 'server', onStream: () => true, ...options });
  const decode = createFrameDecoder();
  const frames: SpdyFrame[] = [];
  socket.on('data', (chunk: Buffer) => frames.push(...decode(chunk)));
  const pack = createHeaderCompressor();
  const send = (...list: readonly SpdyFrame[]): void =>
    void socket.write(Buffer.concat(list.map(encodeFrame)));
  return {
    socket,
    connection,
    send,
    synStream: (streamId, { fin = false, unidirectional = false } = {}) =>
      send({
        type: 'synStream',
        streamId,
        associatedTo: 0,
        priority: 0,
        fin,
        unidirectional,
        block: pack(encodeHeaderBlock(new Map([['streamtype', 'data']]))),
      }),
    got: (type) => frames.filter((frame): frame is SpdyFrame & { type: typeof type } => frame.type === type),
  };
}

const data = (streamId: number, length: number, fin = false): SpdyFrame => ({
  type: 'data',
  streamId,
  fin,
  data: Buffer.alloc(length, streamId),
});
const settings = (window: number): SpdyFrame => ({
  type: 'settings',
  clear: false,
  entries: [{ id: 7, flags: 0, value: window }],
});
const none = new Map<string, string>();

describe('between two of ours', () => {
  test('streams carry headers and data both ways, each half with its own end', async () => {
    const { client } = await createPair((stream) => {
      void readAll(stream).then((all) => stream.end(`${stream.headers.get('name')}: ${all.toString()}`));
      return true;
    });
    const answers = ['a', 'b', 'c'].map(async (name) => {
      const stream = await client.open(new Map([['name', name]]));
      stream.end('x'.repeat(3));
      return (await readAll(stream)).toString();
    });
    expect(await Promise.all(answers)).toEqual(['a: xxx', 'b: xxx', 'c: xxx']);
  });

  test('20 MiB on each of five streams at once come back', { tags: ['long'] }, async () => {
    const { client } = await createPair((stream) => {
      pipeline(stream, stream).catch(() => undefined);
      return true;
    });
    await Promise.all(
      Array.from({ length: 5 }, async () => {
        const stream = await client.open(none);
        const sent = crypto.randomBytes(20 << 20);
        stream.end(sent);
        expect((await readAll(stream)).equals(sent)).toBe(true);
      }),
    );
  });

  test('an unread stream buffers no more than its window, and does not block others', async () => {
    const streams: SpdyStream[] = [];
    const { client } = await createPair((stream) => {
      streams.push(stream);
      return true;
    });
    const stuck = await client.open(none);
    const other = await client.open(none);
    const block = Buffer.alloc(1 << 20);
    let written = false;
    stuck.write(block, () => (written = true));
    other.end(block);
    expect(await readAll(streams[1]!)).toHaveLength(block.length);
    expect(written).toBe(false);
    stuck.end();
    expect(await readAll(streams[0]!)).toHaveLength(block.length);
    expect(written).toBe(true);
  });

  test('destroying a stream resets it at the other end', async () => {
    const { client } = await createPair((stream) => {
      stream.resume();
      stream.once('data', () => stream.destroy());
      return true;
    });
    const stream = await client.open(none);
    stream.write('x');
    const [error] = (await once(stream, 'reset')) as [Error];
    expect(error).toMatchObject({ name: 'SpdyResetError', status: 5 });
    expect(await readAll(stream)).toHaveLength(0);
  });

  test('a refused stream', async () => {
    const { client } = await createPair(() => false);
    await expect(client.open(none)).rejects.toMatchObject({ name: 'SpdyResetError', status: 3 });
  });

  test('more streams than may be open at once', async () => {
    const { client } = await createPair(() => true, { limits: { streams: 2 } });
    const first = await client.open(none);
    await client.open(none);
    await expect(client.open(none)).rejects.toMatchObject({ status: 3 });
    first.destroy();
    await client.open(none);
  });

  test('closing says goodbye, and what was sent before arrives', async () => {
    const { client, server } = await createPair((stream) => {
      stream.write('termination message', () => stream.end(() => server.close()));
      return true;
    });
    const stream = await client.open(none);
    expect((await readAll(stream)).toString()).toBe('termination message');
    await Promise.all([client.closed, server.closed]);
    await expect(client.open(none)).rejects.toThrow(/closing/);
  });

  test('a broken connection is an error for readers and openers', async () => {
    const { client, serverSocket } = await createPair(() => true);
    const stream = await client.open(none);
    const reading = readAll(stream);
    serverSocket.destroy();
    await expect(reading).rejects.toThrow(/closed/);
    await client.closed;
    await expect(client.open(none)).rejects.toThrow(/closing/);
  });
});

describe('windows', () => {
  test('of a peer that has them are kept to, byte for byte', async () => {
    const streams: SpdyStream[] = [];
    const peer = await createRawPeer({ onStream: (stream) => streams.push(stream) > 0 });
    const received = (id: number): number =>
      peer
        .got('data')
        .filter(({ streamId }) => streamId === id)
        .reduce((sum, frame) => sum + frame.data.length, 0);
    peer.send(settings(10));
    peer.synStream(1);
    peer.synStream(3);
    await expect.poll(() => streams.length).toBe(2);
    streams[0]!.write(Buffer.alloc(100));
    streams[1]!.write(Buffer.alloc(5));
    await expect.poll(() => [received(1), received(3)]).toEqual([10, 5]);
    peer.send({ type: 'windowUpdate', streamId: 1, delta: 7 });
    await expect.poll(() => received(1)).toBe(17);
    peer.send(settings(30)); // 20 more for every stream (§2.6.8)
    await expect.poll(() => received(1)).toBe(37);
    peer.send(settings(0)); // 30 less: 30 below nothing
    peer.send({ type: 'windowUpdate', streamId: 1, delta: 31 });
    await expect.poll(() => received(1)).toBe(38);
    peer.send({ type: 'windowUpdate', streamId: 1, delta: 1000 });
    await expect.poll(() => received(1)).toBe(100);
  });

  test('of the connection too', async () => {
    const streams: SpdyStream[] = [];
    const peer = await createRawPeer({ onStream: (stream) => streams.push(stream) > 0 });
    const received = (): number => peer.got('data').reduce((sum, frame) => sum + frame.data.length, 0);
    peer.send(settings(1_000_000));
    peer.synStream(1);
    await expect.poll(() => streams.length).toBe(1);
    streams[0]!.write(Buffer.alloc(100_000));
    await expect.poll(received).toBe(65_536);
    peer.send({ type: 'windowUpdate', streamId: 0, delta: 100_000 });
    await expect.poll(received).toBe(100_000);
  });

  test('are not waited for with a peer that has none', async () => {
    const streams: SpdyStream[] = [];
    const peer = await createRawPeer({ onStream: (stream) => streams.push(stream) > 0 });
    peer.synStream(1);
    await expect.poll(() => streams.length).toBe(1);
    streams[0]!.end(Buffer.alloc(10 << 20));
    await expect.poll(() => peer.got('data').at(-1)?.fin).toBe(true);
    expect(peer.got('data').reduce((sum, frame) => sum + frame.data.length, 0)).toBe(10 << 20);
  });

  test('that are passed by a peer that has them end the stream', async () => {
    const peer = await createRawPeer({ limits: { window: 1000 } });
    peer.send(settings(1000));
    peer.synStream(1);
    peer.send(data(1, 1001));
    await expect.poll(() => peer.got('rstStream')).toEqual([{ type: 'rstStream', streamId: 1, status: 7 }]);
  });

  test('too wide end the connection', async () => {
    const peer = await createRawPeer();
    peer.synStream(1);
    peer.send({ type: 'windowUpdate', streamId: 1, delta: 0x7fff_ffff });
    await peer.connection.closed;
  });

  test('are told to a peer only when it heeds them, or has stopped at their end', async () => {
    const onStream = (stream: SpdyStream): boolean => stream.resume() !== undefined;
    const updates = (peer: RawPeer): number =>
      peer.got('windowUpdate').filter(({ streamId }) => streamId > 0).length;
    const [silent, exact, heeding] = await Promise.all(
      [1, 2, 3].map(() => createRawPeer({ onStream, limits: { window: 1000 } })),
    );
    silent!.synStream(1);
    silent!.send(data(1, 5000), { type: 'ping', id: 1 });
    exact!.synStream(1);
    exact!.send(data(1, 1000), { type: 'ping', id: 1 });
    heeding!.send(settings(1000));
    heeding!.synStream(1);
    heeding!.send(data(1, 600), { type: 'ping', id: 1 });
    await expect.poll(() => updates(exact!)).toBe(1);
    await expect.poll(() => updates(heeding!)).toBe(1);
    await expect.poll(() => silent!.got('ping').length).toBe(1);
    expect(updates(silent!)).toBe(0);
  });
});

describe('a hostile peer', () => {
  const waitForPause = async (socket: net.Socket): Promise<number> => {
    let last = -1;
    // Without a reader, the socket's buffers fill and then nothing moves any more.
    await expect
      .poll(
        () => {
          const sent = socket.bytesWritten - socket.writableLength;
          const still = sent === last;
          last = sent;
          return still;
        },
        { interval: 200, timeout: 30_000 },
      )
      .toBe(true);
    return last;
  };

  test('that sends without end is not read without end', { tags: ['long'] }, async () => {
    const streams: SpdyStream[] = [];
    const peer = await createRawPeer({
      onStream: (stream) => streams.push(stream) > 0,
      limits: { buffered: 1 << 20 },
    });
    peer.synStream(1);
    const total = 256;
    for (let count = 0; count < total; count += 1) peer.send(data(1, 1 << 20, count === total - 1));
    const sent = await waitForPause(peer.socket);
    // A megabyte here, and what the kernel holds of both sockets.
    expect(sent).toBeLessThan(32 << 20);
    let length = 0;
    for await (const chunk of streams[0] as AsyncIterable<Buffer>) length += chunk.length;
    expect(length).toBe(total << 20);
  });

  test('whose data is not wanted any more is still drained', async () => {
    const peer = await createRawPeer({
      onStream: (stream) => {
        stream.on('data', () => stream.destroy());
        return true;
      },
      limits: { buffered: 1 << 16 },
    });
    peer.synStream(1);
    for (let count = 0; count < 32; count += 1) peer.send(data(1, 1 << 20));
    peer.send({ type: 'ping', id: 1 });
    await expect.poll(() => peer.got('ping').length).toBe(1);
  });

  test.each([
    ['pings', (): Buffer => encodeFrame({ type: 'ping', id: 1 })],
    [
      'bad streams',
      (count: number): Buffer => {
        const reset = { type: 'rstStream', streamId: 2 * count + 1, status: 1 } as const;
        return Buffer.concat([encodeFrame({ type: 'ping', id: 1 }), encodeFrame(reset)]);
      },
    ],
  ])('that sends %s and reads no answers is dropped', { tags: ['long'] }, async (_name, frame) => {
    const peer = await createRawPeer({ limits: { backlog: 1 << 18 } });
    peer.socket.pause();
    const flood = Buffer.concat(Array.from({ length: 20_000 }, (_, count) => frame(count)));
    const send = (): void => {
      while (!peer.socket.destroyed && peer.socket.write(flood));
    };
    peer.socket.on('drain', send);
    send();
    await peer.connection.closed;
  });

  test.each<[string, (peer: RawPeer) => void]>([
    ['noise', (peer) => peer.socket.write(Buffer.from('8003ffffffffffff', 'hex'))],
    ['an even stream', (peer) => peer.synStream(2)],
    [
      'a stream twice',
      (peer) => {
        peer.synStream(1);
        peer.synStream(1);
      },
    ],
    [
      'streams backwards',
      (peer) => {
        peer.synStream(5);
        peer.synStream(3);
      },
    ],
    [
      'data after the end',
      (peer) => {
        peer.synStream(1);
        peer.send(data(1, 1, true), data(1, 1));
      },
    ],
    [
      'a header bomb',
      (peer) => {
        const block = createHeaderCompressor()(Buffer.alloc(10_000_000));
        peer.send({ type: 'headers', streamId: 1, fin: false, block });
      },
    ],
    ['a control frame that is too long', (peer) => peer.socket.write(Buffer.from('8003000100010001', 'hex'))],
  ])('that sends %s is told of its error and dropped', async (_name, send) => {
    const peer = await createRawPeer();
    send(peer);
    await peer.connection.closed;
    await expect.poll(() => peer.got('goAway').map(({ status }) => status)).toEqual([1]);
  });

  test('that says goodbye may finish its streams, and open no more', async () => {
    const streams: SpdyStream[] = [];
    const peer = await createRawPeer({ onStream: (stream) => streams.push(stream) > 0 });
    peer.synStream(1);
    peer.send({ type: 'goAway', lastGoodStreamId: 0, status: 0 });
    peer.synStream(3);
    peer.send(data(1, 3, true));
    await expect.poll(() => peer.got('rstStream')).toEqual([{ type: 'rstStream', streamId: 3, status: 3 }]);
    expect(await readAll(streams[0]!)).toHaveLength(3);
    streams[0]!.end('bye');
    await expect.poll(() => peer.got('data').map(({ data: bytes }) => bytes.toString())).toEqual(['bye', '']);
    peer.socket.end();
    await peer.connection.closed;
  });
});
