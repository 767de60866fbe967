import { nativeProgram } from './native.js';
import type { TestNamespace } from './namespaces.js';
import { CommandError, type RunningProcess } from './processes.js';
import { generous, sendAgain } from './send-again.js';

/** `sctp` is one INIT and its INIT ACK: it passes filters and translators, but no SCTP stack is needed. */
export type Protocol = 'tcp' | 'udp' | 'sctp';

export interface Endpoint {
  readonly address: string;
  readonly port: number;
}

/** Request that a server saw and sent back. */
export interface Answer {
  /** Source of the request as the server sees it: after every translation. */
  readonly peer: Endpoint;
  readonly local: Endpoint;
  /** The payload that came back; empty for `sctp`. */
  readonly payload: string;
}

export interface EchoServer {
  readonly port: number;
  readonly process: RunningProcess;
  close(): Promise<void>;
}

/** No answer: `code` is the errno's name, e.g. `ECONNREFUSED`, `ETIMEDOUT`, `EHOSTUNREACH`. */
export class UnreachableError extends Error {
  readonly code: string;

  constructor(code: string, what: string) {
    super(`${what}: ${code}`);
    this.name = 'UnreachableError';
    this.code = code;
  }
}

/** Starts an echo server in a namespace; resolves when it listens. Port 0 takes a free one (not for `sctp`). */
export async function serveEcho(
  namespace: TestNamespace,
  protocol: Protocol,
  address: string,
  port: number,
): Promise<EchoServer> {
  return serve(namespace, ['serve', protocol, address, String(port)]);
}

async function serve(namespace: TestNamespace, args: readonly string[]): Promise<EchoServer> {
  const server = namespace.start([nativeProgram('probe'), ...args]);
  const [, port] = await server.waitForOutput(/^ready (\d+)$/m);
  const close = async (): Promise<void> => {
    server.kill('SIGKILL');
    await server.exited;
  };
  return { port: Number(port), process: server, close };
}

export interface AskOptions {
  readonly payload?: string;
  /** Source address. */
  readonly from?: string;
  /** milliseconds; {@link generous} when absent. A short one is for a look that is repeated, and proves nothing. */
  readonly timeout?: number;
}

/**
 * Sends a payload to an echo server out of a namespace, again and again until an answer comes. A refusal is an answer,
 * and ends it at once. @throws UnreachableError
 */
export async function ask(
  namespace: TestNamespace,
  protocol: Protocol,
  address: string,
  port: number,
  { timeout = generous, ...options }: AskOptions = {},
): Promise<Answer> {
  let lost: UnreachableError | undefined;
  const answer = await sendAgain(timeout, async (wait, left) => {
    try {
      // The kernel itself sends again what TCP has lost.
      const patience = protocol === 'tcp' ? left : wait;
      return await askOnce(namespace, protocol, address, port, { ...options, timeout: patience });
    } catch (error) {
      if (!isLost(error)) throw error;
      lost = error;
      return undefined;
    }
  });
  return answer ?? Promise.reject(lost!);
}

/** No answer came, or no neighbour has the address: the kernel gives that up after three seconds. */
function isLost(error: unknown): error is UnreachableError {
  return error instanceof UnreachableError && ['ETIMEDOUT', 'EHOSTUNREACH'].includes(error.code);
}

/** Sends one datagram, or makes one attempt to connect. @throws UnreachableError */
export async function askOnce(
  namespace: TestNamespace,
  protocol: Protocol,
  address: string,
  port: number,
  { payload = 'podwire', from, timeout = generous }: AskOptions = {},
): Promise<Answer> {
  const wait = String(Math.ceil(timeout));
  const target = [protocol, address, String(port), wait, ...(from === undefined ? [] : [from])];
  const output = await probe(namespace, ['ask', ...target], payload, timeout + generous);
  const [, peerAddress = '', peerPort, localAddress = '', localPort, echoed = ''] =
    /^(\S+) (\d+) (\S+) (\d+)\n([^]*)$/.exec(output) ?? [];
  return {
    peer: { address: peerAddress, port: Number(peerPort) },
    local: { address: localAddress, port: Number(localPort) },
    payload: echoed,
  };
}

/** Reports if a server answers with the text that was sent. Silence has no end: use `assertBlocked` to claim it. */
export async function reaches(
  namespace: TestNamespace,
  protocol: Protocol,
  address: string,
  port: number,
  options: AskOptions = {},
): Promise<boolean> {
  const payload = options.payload ?? 'podwire';
  try {
    const answer = await ask(namespace, protocol, address, port, { ...options, payload });
    return protocol === 'sctp' || answer.payload === payload;
  } catch (error) {
    if (error instanceof UnreachableError) return false;
    throw error;
  }
}

async function probe(
  namespace: TestNamespace,
  args: readonly string[],
  input: string,
  timeout: number,
): Promise<string> {
  try {
    return await namespace.run([nativeProgram('probe'), ...args], { input, timeout });
  } catch (error) {
    const code = error instanceof CommandError ? /^(E\w+) /.exec(error.stderr)?.[1] : undefined;
    throw code === undefined ? error : new UnreachableError(code, `${namespace.name}: ${args.join(' ')}`);
  }
}

/** Starts a TCP server that swallows and counts. */
export async function serveSink(namespace: TestNamespace, address: string, port = 0): Promise<EchoServer> {
  return serve(namespace, ['sink', address, String(port)]);
}

/** Cost of a transfer, measured by the receiver from accepting the connection to its end. */
export interface Transfer {
  readonly bytes: number;
  readonly seconds: number;
  /** bits per second */
  readonly rate: number;
}

/** Sends `bytes` bytes to a sink by TCP as fast as the path lets it. @throws UnreachableError */
export async function pour(
  namespace: TestNamespace,
  address: string,
  port: number,
  bytes: number,
  timeout = 60_000,
): Promise<Transfer> {
  const output = await probe(namespace, ['pour', address, String(port), String(bytes)], '', timeout);
  const [received = 0, nanoseconds = 0] = output.trim().split(' ').map(Number);
  return { bytes: received, seconds: nanoseconds / 1e9, rate: (received * 8) / (nanoseconds / 1e9) };
}

export interface Stream {
  /** Sends nothing more. @returns how many datagrams were sent */
  stop(): Promise<number>;
}

/** Sends datagrams of one flow, some ten thousand a second; a packet filter counts them. Resolves when it has begun. */
export async function startStream(namespace: TestNamespace, address: string, port: number): Promise<Stream> {
  const sender = namespace.start([nativeProgram('probe'), 'stream', address, String(port)]);
  await sender.waitForOutput(/^ready /m);
  return {
    async stop() {
      sender.child.stdin?.end();
      await sender.exited;
      return Number(sender.stdout().trim().split('\n').at(-1));
    },
  };
}
