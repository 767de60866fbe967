/** Questions to a server of this machine: HTTP over its unix socket. */
import http from 'node:http';
import { type ErrorCode, PodwireError } from '@podwire/errors';
import { ApiError, type Failure } from './failure.js';
import { splitLines } from './lines.js';
import { patience } from './patience.js';

export interface LocalApi {
  readonly socket: string;
  /** @throws PodwireError of `peer.unreachable`, DEADLINE_EXCEEDED; ApiError with what the server says */
  get<T>(path: string): Promise<T>;
  /** @throws as `get` */
  post<T>(path: string, body: unknown): Promise<T>;
  /** @throws as `get` */
  delete<T>(path: string, body?: unknown): Promise<T>;
  /** The documents of a stream while they come, until its end or the signal. No deadline. @throws as `get` */
  lines<T>(path: string, signal: AbortSignal): AsyncIterable<T>;
}

/** Whom we ask. */
export interface ApiPeer {
  /** `agent`: as in "no agent answers". */
  readonly name: string;
  readonly unreachable: ErrorCode;
}

export interface ApiOptions {
  /** Path of the socket. */
  readonly socket: string;
  readonly peer: ApiPeer;
  /** Milliseconds for one question; 15 s when absent. */
  readonly timeout?: number;
  readonly signal?: AbortSignal;
}

interface Answer {
  readonly status: number;
  readonly body: string;
}

export function openLocalApi(options: ApiOptions): LocalApi {
  const ask = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const { timeout = patience } = options;
    const deadline = AbortSignal.timeout(timeout);
    try {
      const response = await request(options, method, path, body, deadline);
      const answer = { status: response.statusCode ?? 0, body: await collect(response) };
      return readAnswer<T>(options, answer);
    } catch (cause) {
      if (deadline.aborted) throw tooLate(options, path, timeout);
      throw explainBreak(cause, options);
    }
  };
  return {
    socket: options.socket,
    get: (path) => ask('GET', path),
    post: (path, body) => ask('POST', path, body),
    delete: (path, body) => ask('DELETE', path, body),
    lines: (path, signal) => readLines(options, path, signal),
  };
}

async function* readLines<T>(options: ApiOptions, path: string, signal: AbortSignal): AsyncIterable<T> {
  const response = await request(options, 'GET', path, undefined, signal);
  if ((response.statusCode ?? 0) >= 400) {
    readAnswer(options, { status: response.statusCode ?? 0, body: await collect(response) });
  }
  try {
    for await (const line of splitLines(response)) if (line !== '') yield JSON.parse(line) as T;
  } catch (error) {
    // A stream that is broken off on purpose says ECONNRESET.
    throw signal.aborted ? signal.reason : explainBreak(error, options);
  } finally {
    response.destroy();
  }
}

/** The length too: for DELETE, Node would send a body without saying where it ends. */
function describeContent(content: string): http.OutgoingHttpHeaders {
  return { 'content-type': 'application/json', 'content-length': Buffer.byteLength(content) };
}

/** Resolves when the answer begins. */
function request(
  options: ApiOptions,
  method: string,
  path: string,
  body: unknown,
  limit: AbortSignal,
): Promise<http.IncomingMessage> {
  const { socket, signal } = options;
  const either = signal === undefined ? limit : AbortSignal.any([signal, limit]);
  const content = body === undefined ? undefined : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const outgoing = http.request({
      socketPath: socket,
      method,
      path,
      agent: false,
      signal: either,
      headers: content === undefined ? {} : describeContent(content),
    });
    outgoing.on('response', resolve);
    outgoing.on('error', (cause) => reject(explainNoAnswer(cause, options)));
    outgoing.end(content);
  });
}

async function collect(response: http.IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

function tooLate({ peer }: ApiOptions, path: string, timeout: number): PodwireError {
  return new PodwireError(
    'DEADLINE_EXCEEDED',
    `the ${peer.name} did not answer ${path} within ${timeout} ms`,
  );
}

function explainNoAnswer(cause: Error, { socket, peer, signal }: ApiOptions): Error {
  if (signal?.aborted === true) return signal.reason as Error;
  if (cause.name === 'AbortError') return cause;
  const code = (cause as NodeJS.ErrnoException).code ?? '';
  const why = noAnswerReasons[code] ?? (code.startsWith('HPE_') ? notHttp : cause.message);
  return new PodwireError(peer.unreachable, `no ${peer.name} answers at ${socket}: ${why}`, {
    details: { socket },
    // Another process answers, or would: to start an agent is no fix then.
    ...(code === 'ENOENT' || code === 'ECONNREFUSED' ? {} : { action: fixes[code] ?? null }),
  });
}

/** The answer had begun. */
function explainBreak(cause: unknown, { socket, peer, signal }: ApiOptions): unknown {
  if ((cause as NodeJS.ErrnoException).code !== 'ECONNRESET') return cause;
  if (signal?.aborted === true) return signal.reason;
  const message = `the ${peer.name} at ${socket} has ended in the middle of its answer`;
  return new PodwireError(peer.unreachable, message, { cause, details: { socket } });
}

const notHttp =
  'what listens there does not speak HTTP; is this the socket for plugins? The one to use here is apiSocket';

const fixes: Readonly<Record<string, string>> = { EACCES: 'Run the command as root.' };

const noAnswerReasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such socket',
  ECONNREFUSED: 'no process listens; the one that made the socket has ended',
  EACCES: 'permission denied',
  ECONNRESET:
    'it closed the connection, as it does for users it does not serve; also the socket for plugins does',
  ENOTSOCK: 'this is no socket',
};

function readAnswer<T>(options: ApiOptions, { status, body }: Answer): T {
  const document = parse(options, body);
  if (status < 400) return document as T;
  const failure = (document as { error?: Partial<Failure> } | undefined)?.error;
  throw new ApiError(
    {
      ...failure,
      code: failure?.code ?? `HTTP_${status}`,
      message: failure?.message ?? `HTTP status ${status}`,
    },
    status,
  );
}

function parse({ socket, peer }: ApiOptions, body: string): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch (cause) {
    const message = `what answers at ${socket} is no ${peer.name}: ${JSON.stringify(body.slice(0, 80))}`;
    throw new PodwireError(peer.unreachable, message, { cause, details: { socket } });
  }
}
