/** Programs and ports for tests, without processes: a program is a function. */
import { once } from 'node:events';
import net from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { pipeline } from 'node:stream/promises';
import type { Readable, Writable } from 'node:stream';
import type { StreamCall, StreamingHandlers } from '@podwire/cri-streaming';

export type Program = (call: StreamCall, argv: readonly string[]) => Promise<number>;

export async function write(stream: Writable | undefined, data: string | Buffer): Promise<void> {
  if (stream !== undefined && !stream.write(data)) await once(stream, 'drain');
}

/** Leaves the other half of a duplex stream as it is. */
export async function readAll(stream: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream.iterator({ destroyOnReturn: false })) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

export const programs: Readonly<Record<string, Program>> = {
  echo: async ({ stdout }, argv) => {
    await write(stdout, `${argv.slice(1).join(' ')}\n`);
    return 0;
  },
  exit: async ({ stderr }, argv) => {
    await write(stderr, 'bad\n');
    return Number(argv[1]);
  },
  cat: async ({ stdin, stdout }) => {
    if (stdin === undefined || stdout === undefined) return 1;
    await pipeline(stdin, stdout);
    return 0;
  },
  'copy-exit': async ({ stdin, stdout }, argv) => {
    await pipeline(stdin!, stdout!);
    return Number(argv[1]);
  },
  /** One line, as far as it has come. */
  line: async ({ stdin, stdout }) => {
    const [chunk] = (await once(stdin!, 'data')) as [Buffer];
    await write(stdout, `got ${chunk.toString()}`);
    return 0;
  },
  sizes: async ({ sizes, stdout }) => {
    for await (const { width, height } of sizes) {
      await write(stdout, `${width}x${height};`);
      if (width === 132) return 0;
    }
    return 1;
  },
  sleep: async (_call, argv) => {
    await setTimeout(Number(argv[1]));
    return 0;
  },
  fail: () => Promise.reject(new Error('no such container')),
  /** Runs until the client goes. */
  wait: async ({ signal }) => {
    if (!signal.aborted) await once(signal, 'abort');
    return 0;
  },
  zeros: async ({ stdout, signal }, argv) => {
    const block = Buffer.alloc(65_536);
    for (let left = Number(argv[1]); left > 0 && !signal.aborted; left -= block.length) {
      await write(stdout, block.subarray(0, left));
    }
    return 0;
  },
};

export function createTestHandlers(seen: { call?: StreamCall } = {}): StreamingHandlers {
  return {
    exec: (_containerId, argv, call) => {
      seen.call = call;
      return programs[argv[0]!]!(call, argv);
    },
    attach: async (_containerId, call) => {
      seen.call = call;
      await pipeline(call.stdin!, call.stdout!);
    },
    portForward: async (_sandboxId, port, stream, signal) => {
      const socket = net.connect({ port, host: '127.0.0.1', allowHalfOpen: true, signal });
      await once(socket, 'connect');
      await Promise.all([pipeline(stream, socket), pipeline(socket, stream)]);
    },
  };
}
