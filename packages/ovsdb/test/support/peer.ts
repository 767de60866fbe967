/** The other end of a connection, written by hand. */
import type { Duplex } from 'node:stream';
import { AsyncQueue, silentLog } from '@podwire/platform';
import { createTestClock, type TestClock } from '@podwire/platform/testing';
import { Connection, type ConnectionOptions } from '../../src/rpc/connection.js';
import { JsonStream } from '../../src/rpc/json-stream.js';
import { defaultLimits } from '../../src/rpc/limits.js';
import { createStreamPair } from '../../src/fake/stream-pair.js';

export interface Message {
  readonly id: unknown;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}

export class Peer {
  readonly stream: Duplex;
  readonly #messages = new AsyncQueue<Message>();

  constructor(stream: Duplex) {
    const reader = new JsonStream({ bytes: 1_000_000, depth: 32 });
    this.stream = stream;
    stream.on('data', (chunk: Buffer) => {
      for (const message of reader.read(chunk)) this.#messages.push(message as Message);
    });
    stream.on('end', () => this.#messages.end());
    stream.on('error', (error) => silentLog.debug({ error }, 'the stream was cut'));
  }

  /** The next message of the client; fails when there is none any more. */
  async next(): Promise<Message> {
    const result = await this.#messages.next();
    if (result.done === true) throw new Error('the client has ended the connection');
    return result.value;
  }

  /** True once the client has ended the connection. */
  async hasEnded(): Promise<boolean> {
    return (await this.#messages.next()).done === true;
  }

  send(message: unknown): void {
    this.stream.write(typeof message === 'string' ? message : JSON.stringify(message));
  }

  /** Answers the next request. */
  async answer(result: unknown, error: unknown = null): Promise<Message> {
    const request = await this.next();
    this.send({ id: request.id, result, error });
    return request;
  }
}

export interface Bench {
  readonly peer: Peer;
  readonly connection: Connection;
  readonly clock: TestClock;
  readonly notifications: (readonly [string, unknown])[];
}

export function createBench(options: Partial<ConnectionOptions> = {}): Bench {
  const [near, far] = createStreamPair();
  const clock = createTestClock();
  const notifications: (readonly [string, unknown])[] = [];
  const connection = new Connection({
    stream: near,
    name: 'the peer',
    clock,
    limits: defaultLimits,
    probeInterval: 0,
    onNotification: (method, params) => void notifications.push([method, params]),
    ...options,
  });
  return { peer: new Peer(far), connection, clock, notifications };
}
