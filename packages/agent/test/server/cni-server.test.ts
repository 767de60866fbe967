import { describe, expect, onTestFinished, test } from 'vitest';
import type { PeerCredentials } from '@podwire/linux';
import { describeError } from '@podwire/errors';
import { createLog } from '../../src/log.js';
import { type CniServer, type RequestHandler, startCniServer } from '../../src/server/cni-server.js';
import type { Received } from '../../src/server/connection.js';
import { encodeRequest, maxRequestBytes } from '../../src/server/framing.js';
import { connect, exchange, makeDirectory, readAll } from '../fakes/sockets.js';

interface Options {
  readonly handle?: RequestHandler;
  readonly peer?: PeerCredentials | undefined;
  readonly maxConnections?: number;
  readonly deadline?: number;
}

const echo: RequestHandler = (received, answer) =>
  'request' in received
    ? answer(true, Buffer.from(received.request.stdin).toString())
    : answer(false, received.error.code);

async function start(options: Options = {}): Promise<{ server: CniServer; socket: string }> {
  const socket = `${makeDirectory()}/cni.sock`;
  const server = await startCniServer({
    socket,
    maxConnections: options.maxConnections ?? 10,
    deadline: options.deadline ?? 2_000,
    handle: options.handle ?? echo,
    peerCredentials: () => ('peer' in options ? options.peer : { pid: 1, uid: 0, gid: 0 }),
    log: createLog({ level: 'silent', nodeName: 'n' }),
  });
  onTestFinished(() => server.stop(0));
  return { server, socket };
}

const request = (stdin: string): Buffer =>
  encodeRequest({ environment: [['CNI_COMMAND', 'ADD']], stdin: Buffer.from(stdin) });
const gate = (): { opened: Promise<void>; open: () => void } => {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
};

describe('the socket of plugins', () => {
  test('takes a request and gives an answer', async () => {
    const { socket } = await start();
    expect(await exchange(socket, request('{"a":1}'))).toBe('0{"a":1}');
  });

  test('takes a request in single bytes', async () => {
    const { socket } = await start();
    const client = await connect(socket);
    const answer = readAll(client);
    for (const byte of request('xyz')) {
      client.write(Buffer.from([byte]));
      await new Promise((resolve) => setImmediate(resolve));
    }
    client.end();
    expect(await answer).toBe('0xyz');
  });

  test('carries a large answer whole', async () => {
    const large = 'x'.repeat(900_000);
    const { socket } = await start();
    expect(await exchange(socket, request(large))).toBe(`0${large}`);
  });

  test('serves many at once', async () => {
    const { socket } = await start({ maxConnections: 100 });
    const texts = Array.from({ length: 60 }, (_, index) => `r${index}`);
    expect(await Promise.all(texts.map((text) => exchange(socket, request(text))))).toEqual(
      texts.map((t) => `0${t}`),
    );
  });

  test('reads what is too large to the end, and refuses it', async () => {
    const { socket } = await start();
    expect(await exchange(socket, request('x'.repeat(maxRequestBytes)))).toBe('1REQUEST_TOO_LARGE');
    const most = maxRequestBytes - request('').length;
    expect((await exchange(socket, request('x'.repeat(most)))).length).toBe(most + 1);
  });

  test('refuses what is no request', async () => {
    const { socket } = await start();
    expect(await exchange(socket, Buffer.from('GET / HTTP/1.0\r\n\r\n'))).toBe('1REQUEST_INVALID');
    expect(await exchange(socket, Buffer.alloc(0))).toBe('1REQUEST_INVALID');
  });

  test('the requests of all connections share 64 MiB, which is free again when they are answered', async () => {
    const { opened, open } = gate();
    const { socket } = await start({
      maxConnections: 100,
      handle: async (received, answer) => {
        if ('request' in received) await opened;
        await echo(received, answer);
      },
    });
    const answers = Array.from({ length: 70 }, () => exchange(socket, request('x'.repeat(1_000_000))));
    expect(await Promise.race(answers)).toBe('1AGENT_NOT_READY');
    open();
    const served = (await Promise.all(answers)).filter((answer) => answer.startsWith('0'));
    expect(served.length).toBeGreaterThan(50);
    expect(served.length).toBeLessThan(68);
    expect(await exchange(socket, request('after'))).toBe('0after');
  });

  test('does not wait for ever for a request', async () => {
    const { socket } = await start({ deadline: 30 });
    const client = await connect(socket);
    client.write('PW1\0');
    expect(await readAll(client)).toBe('1DEADLINE_EXCEEDED');
  });

  const own = process.getuid?.() ?? 0;
  test.each([
    [{ pid: 1, uid: own + 1, gid: 0 }, '1CALLER_REFUSED'],
    [undefined, '1CALLER_REFUSED'],
    [{ pid: 1, uid: own, gid: 5 }, '0x'],
    [{ pid: 1, uid: 0, gid: 5 }, '0x'],
  ])('caller %j', async (peer, expected) => {
    const { socket } = await start({ peer });
    expect(await exchange(socket, request('x'))).toBe(expected);
  });

  test('turns away who is too many, and takes others again later', async () => {
    const { opened, open } = gate();
    const entered = gate();
    const { socket } = await start({
      maxConnections: 1,
      handle: async (received, answer) => {
        entered.open();
        if ('request' in received) await opened;
        await echo(received, answer);
      },
    });
    const first = exchange(socket, request('first'));
    await entered.opened;
    expect(await exchange(socket, request('second'))).toBe('1AGENT_NOT_READY');
    open();
    expect(await first).toBe('0first');
    expect(await exchange(socket, request('third'))).toBe('0third');
  });

  test('says so when the plugin died before its answer', async () => {
    const received = gate();
    const { opened, open } = gate();
    let outcome: Promise<unknown> = Promise.resolve();
    const { socket } = await start({
      handle: async (_received: Received, answer) => {
        received.open();
        await opened;
        outcome = answer(true, 'result').then(
          () => 'taken',
          (error: Error & { code?: string }) => error.code,
        );
        await outcome;
      },
    });
    const client = await connect(socket);
    client.end(request('x'));
    await received.opened;
    const closed = new Promise((resolve) => client.once('close', resolve));
    client.destroy();
    await closed;
    open();
    await new Promise((resolve) => setImmediate(resolve));
    expect(await outcome).toBe('CALLER_GONE');
  });

  test('gives up on a plugin that does not read', async () => {
    const failed = gate();
    const { socket } = await start({
      deadline: 50,
      handle: (_received, answer) =>
        answer(true, 'x'.repeat(4_000_000)).catch((error: Error) => {
          expect(describeError(error)).toContain('did not take the answer');
          failed.open();
        }),
    });
    const client = await connect(socket);
    client.pause();
    client.end(request('x'));
    await failed.opened;
  });

  test('stops after what is running, and takes nothing new', async () => {
    const { opened, open } = gate();
    const entered = gate();
    const { server, socket } = await start({
      handle: async (received, answer) => {
        entered.open();
        await opened;
        await echo(received, answer);
      },
    });
    const running = exchange(socket, request('last'));
    await entered.opened;
    const stopped = server.stop(5_000);
    await expect(connect(socket)).rejects.toThrow(/ECONNREFUSED|ENOENT/);
    open();
    expect(await running).toBe('0last');
    await stopped;
    expect(server.connections).toBe(0);
  });

  test('stops at its deadline even when something hangs', async () => {
    const entered = gate();
    const { server, socket } = await start({
      handle: () => {
        entered.open();
        return new Promise<void>(() => undefined);
      },
    });
    const hanging = exchange(socket, request('x'));
    await entered.opened;
    await server.stop(20);
    expect(await hanging).toBe('');
  });

  test('a handler that fails ends its connection only', async () => {
    const { socket } = await start({
      handle: (received, answer) => {
        if ('request' in received && received.request.stdin.length === 0) throw new Error('defect');
        return echo(received, answer);
      },
    });
    expect(await exchange(socket, request(''))).toBe('');
    expect(await exchange(socket, request('x'))).toBe('0x');
  });
});
