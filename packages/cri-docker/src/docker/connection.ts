/** HTTP over the engine's unix socket: one connection for each call, since a new one costs less than looking after old ones. */
import http from 'node:http';
import type { Duplex } from 'node:stream';
import { longestTimer, onAbort } from '@podwire/platform';
import { DockerError, DockerTimeoutError, DockerUnreachableError } from './error.js';

export interface DockerCall {
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds until the answer must be there (for streams: until it begins); 2 minutes when absent. */
  readonly timeoutMs?: number | undefined;
}

export interface DockerRequest extends DockerCall {
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

const defaultTimeoutMs = 120_000;
/** An answer larger than this is no answer: a list of ten thousand containers has some 20 MB. */
const bodyCap = 64 * 1024 * 1024;

/** A whole answer, decoded; undefined where there is none. @throws DockerError */
export async function requestJson<T>(
  socket: string,
  method: string,
  path: string,
  request: DockerRequest = {},
): Promise<T> {
  const { response, release, reason } = await send(socket, method, path, request);
  try {
    const body = await readBody(response, reason);
    return (body.trim() === '' ? undefined : decode(body)) as T;
  } finally {
    release();
  }
}

/** An answer that comes bit by bit. Ended by `destroy` of the stream or by the signal. @throws DockerError */
export async function requestStream(
  socket: string,
  method: string,
  path: string,
  request: DockerRequest = {},
): Promise<http.IncomingMessage> {
  const { response, release } = await send(socket, method, path, request);
  release();
  return response;
}

interface Sending {
  /** Ends the deadline; the signal goes on. */
  readonly release: () => void;
  /** Why it was given up here; Node's own error then only says that the connection ended. */
  readonly reason: () => Error | undefined;
}

interface Begun extends Sending {
  readonly outgoing: http.ClientRequest;
}

interface Sent extends Sending {
  readonly response: http.IncomingMessage;
}

function toTarget(path: string, query: DockerRequest['query'] = {}): string {
  const given = Object.entries(query).flatMap(([key, value]): [string, string][] =>
    value === undefined ? [] : [[key, String(value)]],
  );
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given).toString()}`;
}

function begin(
  socketPath: string,
  method: string,
  path: string,
  request: DockerRequest,
  upgrading: boolean,
): Begun {
  const body = request.body === undefined ? undefined : Buffer.from(JSON.stringify(request.body));
  const headers: http.OutgoingHttpHeaders = {
    host: 'docker',
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    'content-length': body?.length ?? 0,
    ...(upgrading ? { connection: 'Upgrade', upgrade: 'tcp' } : {}),
    ...request.headers,
  };
  const options = { socketPath, method, path: toTarget(path, request.query), headers, agent: false };
  const outgoing = http.request(options);
  const milliseconds = request.timeoutMs ?? defaultTimeoutMs;
  let reason: Error | undefined;
  const giveUp = (why: Error): void => void outgoing.destroy((reason ??= why));
  const late = (): void => giveUp(new DockerTimeoutError(`${method} ${path}`, milliseconds));
  // The grace period of a StopContainer may be a month.
  const timer = setTimeout(late, Math.min(milliseconds, longestTimer));
  const unsubscribe = onAbort(request.signal, (why) => giveUp(toError(why)));
  outgoing.once('close', () => {
    clearTimeout(timer);
    unsubscribe();
  });
  outgoing.end(body);
  return { outgoing, release: () => clearTimeout(timer), reason: () => reason };
}

const toError = (reason: unknown): Error => (reason instanceof Error ? reason : new Error(String(reason)));

async function send(socketPath: string, method: string, path: string, request: DockerRequest): Promise<Sent> {
  request.signal?.throwIfAborted();
  const { outgoing, release, reason } = begin(socketPath, method, path, request, false);
  const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
    outgoing.once('response', resolve);
    outgoing.on('error', (error) => reject(inOwnWords(socketPath, error)));
  });
  const status = response.statusCode ?? 0;
  if (status >= 200 && status < 300) return { response, release, reason };
  throw new DockerError(status, messageOf(await readBody(response, reason), response));
}

/** Takes the connection over after the headers (Docker calls it hijacking). @throws DockerError */
export async function hijack(
  socketPath: string,
  method: string,
  path: string,
  request: DockerRequest = {},
): Promise<Duplex> {
  request.signal?.throwIfAborted();
  const { outgoing, release } = begin(socketPath, method, path, request, true);
  return new Promise<Duplex>((resolve, reject) => {
    outgoing.on('error', (error) => reject(inOwnWords(socketPath, error)));
    outgoing.once('upgrade', (_response, socket: Duplex, head) => {
      release();
      if (head.length > 0) socket.unshift(head);
      socket.once(
        'close',
        onAbort(request.signal, () => socket.destroy()),
      );
      resolve(socket);
    });
    outgoing.once('response', (response) => {
      readBody(response).then(
        (body) => reject(new DockerError(response.statusCode ?? 0, messageOf(body, response))),
        (error: unknown) => reject(toError(error)),
      );
    });
  });
}

function inOwnWords(socketPath: string, error: Error & { code?: string }): Error {
  const gone = ['ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'EACCES', 'ENOTSOCK'];
  return gone.includes(error.code ?? '') ? new DockerUnreachableError(socketPath, error) : error;
}

async function readBody(
  response: http.IncomingMessage,
  reason: () => Error | undefined = () => undefined,
): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > bodyCap) throw new DockerError(0, `an answer of more than ${bodyCap} bytes`);
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof DockerError) throw error;
    const why = reason();
    if (why !== undefined) throw why;
    throw new DockerError(0, `an answer was cut off: ${toError(error).message}`, { cause: error });
  }
  return Buffer.concat(chunks).toString('utf8');
}

function decode(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch (cause) {
    throw new DockerError(0, `an answer that is no JSON: ${body.slice(0, 100)}`, { cause });
  }
}

/** Errors are `{"message": …}`; a proxy between may answer in its own way. */
function messageOf(body: string, response: http.IncomingMessage): string {
  try {
    const { message } = JSON.parse(body) as { message?: unknown };
    if (typeof message === 'string' && message !== '') return message;
  } catch {
    // It is shown as it is.
  }
  const text = body.trim().slice(0, 300);
  return text === '' ? `HTTP ${response.statusCode} ${response.statusMessage ?? ''}`.trim() : text;
}
