import { once } from 'node:events';
import net, { type AddressInfo, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';
import { joinConnection } from '@podwire/platform';

const servers: net.Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** A client's stream as a streaming server has it: each half ends by itself. */
class Client extends Duplex {
  heard = '';

  constructor() {
    super({ allowHalfOpen: true });
    this.on('error', () => undefined);
  }

  say(words: string): void {
    this.push(words);
  }

  sayEnd(words = ''): void {
    this.push(words);
    this.push(null);
  }

  override _read(): void {
    // The test pushes.
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.heard += chunk.toString();
    done();
  }
}

async function connectTo(serve: (socket: Socket) => void): Promise<Socket> {
  const server = net.createServer({ allowHalfOpen: true }, serve);
  servers.push(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const connection = net.connect({ port: (server.address() as AddressInfo).port, allowHalfOpen: true });
  await once(connection, 'connect');
  return connection;
}

const live = new AbortController().signal;

describe('a client and a connection that are joined', () => {
  it('end when the server closes first, while the client still has something to say', async () => {
    const client = new Client();
    const connection = await connectTo((socket) => socket.end('banner\n'));
    client.say('hello');
    await joinConnection(client, connection, live);
    expect(client.heard).toBe('banner\n');
    expect(connection.destroyed).toBe(true);
  });

  it('wait for an answer that comes after the client has said all', async () => {
    const client = new Client();
    const connection = await connectTo((socket) => {
      const said: Buffer[] = [];
      socket.on('data', (chunk: Buffer) => said.push(chunk));
      socket.once('end', () =>
        setImmediate(() => socket.end(`late answer to ${Buffer.concat(said).toString()}`)),
      );
    });
    client.sayEnd('question');
    await joinConnection(client, connection, live);
    expect(client.heard).toBe('late answer to question');
  });

  it('end when the server goes without reading, which is a reset', async () => {
    const client = new Client();
    const connection = await connectTo((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => socket.resetAndDestroy());
    });
    client.say('hello');
    await joinConnection(client, connection, live);
    expect(client.heard).toBe('');
  });

  it('carry much data both ways', async () => {
    const client = new Client();
    const connection = await connectTo((socket) => socket.pipe(socket));
    const much = 'x'.repeat(3_000_000);
    client.sayEnd(much);
    await joinConnection(client, connection, live);
    expect(client.heard === much).toBe(true);
  });

  it('end when the client goes, and the server hears of it', async () => {
    const client = new Client();
    let closed: Promise<unknown> | undefined;
    const connection = await connectTo((socket) => {
      closed = new Promise((resolve) => socket.on('error', () => undefined).once('close', resolve));
      socket.resume().once('end', () => socket.end());
    });
    const joined = joinConnection(client, connection, live);
    client.destroy();
    await joined;
    await expect.poll(() => closed).toBeDefined();
    await closed;
  });

  it('end with the reason of the signal', async () => {
    const client = new Client();
    const connection = await connectTo((socket) => socket.on('error', () => undefined));
    const abort = new AbortController();
    const joined = joinConnection(client, connection, abort.signal);
    abort.abort(new Error('enough'));
    await expect(joined).rejects.toThrow('enough');
    expect(connection.destroyed).toBe(true);
  });
});
