/** Client and server over a socket: what neither has by itself. */
import fs from 'node:fs';
import net from 'node:net';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import {
  type CallOptions,
  connectCri,
  CriError,
  type CriRuntime,
  type ExecRequest,
  isCriError,
  serveCri,
  VersionRequest,
} from '../src/index.js';
import { createFakeRuntime } from '../src/fake/index.js';
import { connect, makeSocketPath, podConfig, serve } from './support.js';

/** A runtime that does one thing otherwise. */
const runtimeWith = (methods: Partial<CriRuntime>): CriRuntime => ({ ...createFakeRuntime(), ...methods });

const never = (_: unknown, options?: CallOptions): Promise<never> =>
  new Promise((_resolve, reject) => {
    const signal = options?.signal;
    signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });

test('v1 is preferred, and the answer to Version says by which version it was asked', async () => {
  const { socket } = await serve(createFakeRuntime());
  const runtime = await connect(socket);
  expect(runtime.apiVersion).toBe('v1');
  expect((await runtime.version({ version: '' })).runtimeApiVersion).toBe('v1');
  const older = await connect(`unix://${socket}`, { apiVersion: 'v1alpha2' });
  expect((await older.version({ version: '' })).runtimeApiVersion).toBe('v1alpha2');
});

test('v1alpha2 is spoken where there is nothing else', async () => {
  const { socket } = await serve(createFakeRuntime(), { apiVersions: ['v1alpha2'] });
  expect((await connect(socket)).apiVersion).toBe('v1alpha2');
});

test('a server without CRI is UNIMPLEMENTED, no server UNAVAILABLE, and both name the socket', async () => {
  const { socket } = await serve(createFakeRuntime(), { apiVersions: [] });
  await expect(connectCri({ socket })).rejects.toMatchObject({ code: 'UNIMPLEMENTED' });
  const unused = makeSocketPath();
  const refused = connectCri({ socket: unused });
  await expect(refused).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  await expect(refused).rejects.toThrow(unused);
  await expect(connectCri({ socket: `/${'x'.repeat(120)}` })).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
  });
});

test('errors keep their code, and name method and socket', async () => {
  const { socket } = await serve(
    runtimeWith({
      status: () => Promise.reject(new CriError('FAILED_PRECONDITION', 'ask later: é')),
      listImages: () => Promise.reject(new RangeError('out of everything')),
      runtimeConfig: () => Promise.reject(new CriError('INTERNAL', 'x'.repeat(100_000))),
    }),
  );
  const runtime = await connect(socket);
  await expect(runtime.status({ verbose: false })).rejects.toMatchObject({
    code: 'FAILED_PRECONDITION',
    message: `Status on ${socket}: ask later: é`,
  });
  await expect(runtime.listImages({})).rejects.toMatchObject({
    code: 'UNKNOWN',
    message: `ListImages on ${socket}: out of everything`,
  });
  await expect(runtime.runtimeConfig({})).rejects.toMatchObject({ code: 'INTERNAL' });
});

test('what is malformed never reaches the runtime', async () => {
  const fake = createFakeRuntime();
  const { socket } = await serve(fake);
  const runtime = await connect(socket);
  const config = { ...podConfig(), metadata: undefined };
  await expect(runtime.runPodSandbox({ config, runtimeHandler: '' })).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
    message: `RunPodSandbox on ${socket}: config.metadata is missing`,
  });
  await expect(runtime.stopContainer({ containerId: '', timeout: 0n })).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
  });
  expect(fake.counts.runPodSandbox + fake.counts.stopContainer).toBe(0);
});

test('a signal cancels the call on both sides', async () => {
  const ended: unknown[] = [];
  const status = (request: unknown, options?: CallOptions) =>
    never(request, options).catch((error: unknown) => {
      ended.push(error);
      throw error;
    });
  const { socket } = await serve(runtimeWith({ status }));
  const runtime = await connect(socket);
  const controller = new AbortController();
  const call = runtime.status({ verbose: false }, { signal: controller.signal });
  const later = runtime.version({ version: '' }).then(() => controller.abort(new Error('enough')));
  await expect(call).rejects.toMatchObject({ code: 'CANCELLED', cause: new Error('enough') });
  await later;
  await expect.poll(() => ended).toHaveLength(1);
  expect(isCriError(ended[0], 'CANCELLED')).toBe(true);
  await expect(runtime.status({ verbose: false }, { signal: controller.signal })).rejects.toMatchObject({
    code: 'CANCELLED',
  });
});

test('a deadline ends the call on both sides', async () => {
  const seen: CallOptions[] = [];
  const status = (request: unknown, options?: CallOptions) => {
    if (options !== undefined) seen.push(options);
    return never(request, options);
  };
  const { socket } = await serve(runtimeWith({ status }));
  const runtime = await connect(socket);
  await expect(runtime.status({ verbose: false }, { timeoutMs: 60 })).rejects.toMatchObject({
    code: 'DEADLINE_EXCEEDED',
  });
  await expect.poll(() => seen[0]?.signal?.aborted).toBe(true);
  expect(seen[0]?.timeoutMs).toBeLessThanOrEqual(60);
});

test('the trace goes along', async () => {
  const fake = createFakeRuntime();
  const seen: CallOptions[] = [];
  const status: CriRuntime['status'] = (request, options = {}) => {
    seen.push(options);
    return fake.status(request, options);
  };
  const { socket } = await serve(runtimeWith({ status }));
  const runtime = await connect(socket);
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  await runtime.status({ verbose: false }, { traceparent });
  await runtime.status({ verbose: false });
  expect(seen.map((options) => options.traceparent)).toEqual([traceparent, undefined]);
  // The kubelet's two minutes where the caller says nothing.
  expect(Math.round((seen[1]?.timeoutMs ?? 0) / 10_000)).toBe(12);
});

test('messages of 10 MiB pass, of 17 MiB are RESOURCE_EXHAUSTED', async () => {
  const mebibytes = (count: number) => Buffer.alloc(count << 20, 97);
  const execSync: CriRuntime['execSync'] = ({ cmd }) =>
    Promise.resolve({ stdout: mebibytes(Number(cmd[0])), stderr: Buffer.alloc(0), exitCode: 0 });
  const { socket } = await serve(runtimeWith({ execSync }));
  const runtime = await connect(socket);
  const call = (cmd: string) => runtime.execSync({ containerId: 'x', cmd: [cmd], timeout: 5n });
  expect((await call('10')).stdout.length).toBe(10 << 20);
  await expect(call('17')).rejects.toMatchObject({ code: 'RESOURCE_EXHAUSTED' });
});

test('a connection goes on with the next server on its socket', async () => {
  const socket = makeSocketPath();
  const first = await serveCri(createFakeRuntime(), { socket });
  const runtime = await connect(socket);
  await first.close();
  await expect(runtime.version({ version: '' })).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  await serve(createFakeRuntime(), { socket });
  await expect.poll(() => runtime.version({ version: '' }).catch(() => undefined)).toBeDefined();
});

test('a closed connection refuses, and leaves no socket open', async () => {
  const { socket } = await serve(createFakeRuntime());
  const open = () => process.getActiveResourcesInfo().filter((name) => name === 'PipeWrap').length;
  const before = open();
  for (let round = 0; round < 5; round += 1) {
    const runtime = await connectCri({ socket });
    await runtime.status({ verbose: false });
    runtime.close();
    await expect(runtime.status({ verbose: false })).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  }
  await expect.poll(open).toBeLessThanOrEqual(before);
});

test('events arrive in order until the caller leaves, and the runtime is told', async () => {
  const fake = createFakeRuntime();
  const { socket } = await serve(fake);
  const runtime = await connect(socket);
  const seen: string[] = [];
  const running = (async () => {
    for await (const event of runtime.getContainerEvents({})) {
      seen.push(`${event.containerEventType} ${event.podSandboxStatus?.metadata?.name}`);
      if (seen.length === 4) break;
    }
  })();
  await expect.poll(() => fake.counts.getContainerEvents).toBe(1);
  for (const name of ['one', 'two'])
    await runtime.runPodSandbox({ config: podConfig(name), runtimeHandler: '' });
  await running;
  expect(seen).toEqual(['0 one', '1 one', '0 two', '1 two']);
});

test('a stream ends with the error of its runtime, of its caller, or of the server that closes', async () => {
  const { socket } = await serve(createFakeRuntime({ hasEvents: false }));
  const take = async (runtime: CriRuntime, options: CallOptions = {}) => {
    for await (const event of runtime.getContainerEvents({}, options)) return event;
    return undefined;
  };
  await expect(take(await connect(socket))).rejects.toMatchObject({ code: 'UNIMPLEMENTED' });

  const fake = createFakeRuntime();
  const server = await serve(fake);
  const runtime = await connect(server.socket);
  const controller = new AbortController();
  const left = take(runtime, { signal: controller.signal });
  await expect.poll(() => fake.counts.getContainerEvents).toBe(1);
  controller.abort();
  await expect(left).rejects.toMatchObject({ code: 'CANCELLED' });

  const closed = expect(take(runtime)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  await expect.poll(() => fake.counts.getContainerEvents).toBe(2);
  await server.close();
  await closed;
});

test('the socket is for its user alone, replaces a dead one and lets a live one be', async () => {
  const socket = makeSocketPath();
  const own = `${socket}-dir/cri.sock`;
  onTestFinished(() => fs.rmSync(`${socket}-dir`, { recursive: true, force: true }));
  const server = await serve(createFakeRuntime(), { socket: own });
  expect(fs.statSync(own).mode & 0o777).toBe(0o600);
  expect(fs.statSync(`${socket}-dir`).mode & 0o777).toBe(0o700);
  await expect(serveCri(createFakeRuntime(), { socket: own })).rejects.toMatchObject({
    code: 'ALREADY_EXISTS',
  });
  await server.close();
  expect(fs.existsSync(own)).toBe(false);

  await leaveDeadSocket(socket);
  expect(fs.existsSync(socket)).toBe(true);
  await serve(createFakeRuntime(), { socket });
  await connect(socket);

  const file = makeSocketPath();
  fs.writeFileSync(file, 'precious');
  await expect(serveCri(createFakeRuntime(), { socket: file })).rejects.toMatchObject({
    code: 'FAILED_PRECONDITION',
  });
  expect(fs.readFileSync(file, 'utf8')).toBe('precious');
});

test('a socket where others could put their own is refused', async () => {
  const socket = makeSocketPath();
  const directory = `${socket}-dir`;
  onTestFinished(() => fs.rmSync(directory, { recursive: true, force: true }));
  fs.mkdirSync(`${directory}/own`, { recursive: true, mode: 0o700 });
  fs.chmodSync(directory, 0o777);
  for (const place of [directory, `${directory}/own`]) {
    await expect(serveCri(createFakeRuntime(), { socket: `${place}/cri.sock` })).rejects.toMatchObject({
      code: 'FAILED_PRECONDITION',
      message: expect.stringContaining(`${directory} belongs to or can be written by others`) as unknown,
    });
  }
});

/** Closing unlinks the path that was bound, so the file is moved away meanwhile: as if the process was killed. */
async function leaveDeadSocket(socket: string): Promise<void> {
  const server = net.createServer().listen(socket);
  await once(server, 'listening');
  fs.renameSync(socket, `${socket}.kept`);
  await new Promise((resolve) => server.close(resolve));
  fs.renameSync(`${socket}.kept`, socket);
}

test('closing lets calls end in peace, and aborts those that take too long', async () => {
  const fake = createFakeRuntime();
  const asked: string[] = [];
  let finish = (): void => {};
  const server = await serve(
    runtimeWith({
      status: async (request) => {
        asked.push('status');
        await new Promise<void>((resolve) => (finish = resolve));
        return fake.status(request);
      },
      listImages: (request, options) => {
        asked.push('listImages');
        return never(request, options);
      },
    }),
  );
  const runtime = await connect(server.socket);
  const patient = runtime.status({ verbose: false });
  const endless = runtime.listImages({}).catch((error: unknown) => error);
  await expect.poll(() => asked).toHaveLength(2);
  const closed = server.close(200);
  finish();
  expect((await patient).status?.conditions).toHaveLength(2);
  await closed;
  expect(await endless).toMatchObject({
    code: 'UNAVAILABLE',
    message: `ListImages on ${server.socket}: the server is closing`,
  });
});

test('closing does not wait for a client that hears nothing', async () => {
  const server = await serve(createFakeRuntime());
  const deaf = net.connect({ path: server.socket, allowHalfOpen: true });
  onTestFinished(() => void deaf.destroy());
  await once(deaf, 'connect');
  // Connections are accepted one after the other: who is answered comes after the deaf one.
  await connect(server.socket);
  await server.close(0);
});

test('requests that are not protobuf are an error of the call, not of the server', async () => {
  const { socket } = await serve(createFakeRuntime());
  const grpc = await import('@grpc/grpc-js');
  const client = new grpc.Client(`unix:${socket}`, grpc.credentials.createInsecure());
  onTestFinished(() => client.close());
  const call = new Promise((_, reject) => {
    client.makeUnaryRequest(
      '/runtime.v1.RuntimeService/Version',
      () => Buffer.from('ffffffff', 'hex'),
      (bytes) => bytes,
      VersionRequest.fromPartial({}),
      (error) => reject(error as Error),
    );
  });
  await expect(call).rejects.toMatchObject({ code: grpc.status.INTERNAL });
  await (await connect(socket)).version({ version: '' });
});

/** Stands between client and server, to cut the line. */
async function serveThroughProxy(
  target: string,
): Promise<{ socket: string; cut: () => void; open: () => number }> {
  const lines = new Set<net.Socket>();
  const proxy = net.createServer((near) => {
    const far = net.connect(target);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      lines.add(one);
      one.on('error', () => {});
      one.once('close', () => {
        lines.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  });
  const socket = makeSocketPath();
  proxy.listen(socket);
  await once(proxy, 'listening');
  onTestFinished(() => void proxy.close());
  return { socket, cut: () => lines.forEach((line) => line.destroy()), open: () => lines.size };
}

test(
  'a line that is cut in the middle of a call is UNAVAILABLE, and the runtime is told',
  { tags: ['long'] },
  async () => {
    const signals: AbortSignal[] = [];
    const status: CriRuntime['status'] = (request, options = {}) => {
      if (options.signal !== undefined) signals.push(options.signal);
      return never(request, options);
    };
    const { socket: target } = await serve(runtimeWith({ status }));
    const { socket, cut, open } = await serveThroughProxy(target);
    const runtime = await connect(socket);
    for (let round = 1; round <= 20; round += 1) {
      const call = runtime.status({ verbose: false }).catch((error: unknown) => error);
      await expect.poll(() => signals.length).toBe(round);
      cut();
      expect(await call).toMatchObject({ code: 'UNAVAILABLE' });
      await expect.poll(() => signals.at(-1)?.aborted).toBe(true);
      await expect.poll(() => runtime.version({ version: '' }).catch(() => undefined)).toBeDefined();
      expect(open()).toBe(2);
    }
  },
);

test('Exec, Attach and PortForward are answered by the streaming server where there is one', async () => {
  /** Private fields: the caller must keep `this`. */
  class Streaming {
    readonly #url = 'http://127.0.0.1:1/';
    exec = ({ cmd }: ExecRequest) => Promise.resolve({ url: `${this.#url}exec/${cmd.join('+')}` });
    attach() {
      return Promise.resolve({ url: `${this.#url}attach` });
    }
    portForward() {
      return Promise.resolve({ url: `${this.#url}forward` });
    }
  }
  const { socket } = await serve(createFakeRuntime(), { streaming: new Streaming() });
  const runtime = await connect(socket);
  const request = { containerId: 'c', tty: true, stdin: true, stdout: true, stderr: false };
  expect((await runtime.exec({ ...request, cmd: ['sh', '-l'] })).url).toBe('http://127.0.0.1:1/exec/sh+-l');
  expect((await runtime.attach(request)).url).toBe('http://127.0.0.1:1/attach');
  expect((await runtime.portForward({ podSandboxId: 's', port: [80] })).url).toBe(
    'http://127.0.0.1:1/forward',
  );
  await expect(runtime.attach({ ...request, stderr: true })).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
  });
});
