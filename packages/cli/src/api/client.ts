/** Questions to the agent: HTTP over its unix socket. */
import http from 'node:http';
import { PodwireError } from '@podwire/errors';
import { AgentError, type Failure } from '../failure.js';

export interface AgentApi {
  readonly socket: string;
  /** @throws PodwireError AGENT_UNREACHABLE, DEADLINE_EXCEEDED; AgentError with what the agent says */
  get<T>(path: string): Promise<T>;
  /** @throws as `get` */
  post<T>(path: string, body: unknown): Promise<T>;
}

export interface ApiOptions {
  /** Path of the socket. */
  readonly socket: string;
  /** Milliseconds for one question; 15 s when absent, which is longer than the agent takes for any. */
  readonly timeout?: number;
  readonly signal?: AbortSignal;
}

interface Answer {
  readonly status: number;
  readonly body: string;
}

export function openAgentApi(options: ApiOptions): AgentApi {
  const ask = async <T>(method: string, path: string, body?: unknown): Promise<T> =>
    readAnswer<T>(options.socket, await send(options, method, path, body));
  return {
    socket: options.socket,
    get: (path) => ask('GET', path),
    post: (path, body) => ask('POST', path, body),
  };
}

function send(options: ApiOptions, method: string, path: string, body: unknown): Promise<Answer> {
  const { socket, timeout = 15_000, signal } = options;
  const deadline = AbortSignal.timeout(timeout);
  const either = signal === undefined ? deadline : AbortSignal.any([signal, deadline]);
  const content = body === undefined ? undefined : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const request = http.request({
      socketPath: socket,
      method,
      path,
      agent: false,
      signal: either,
      headers: content === undefined ? {} : { 'content-type': 'application/json' },
    });
    request.on('response', (response) => {
      collect(response).then((text) => resolve({ status: response.statusCode ?? 0, body: text }), reject);
    });
    request.on('error', (cause) =>
      reject(explainNoAnswer(cause, { socket, path, timeout, deadline, signal })),
    );
    request.end(content);
  });
}

async function collect(response: http.IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

interface Asked {
  readonly socket: string;
  readonly path: string;
  readonly timeout: number;
  readonly deadline: AbortSignal;
  readonly signal: AbortSignal | undefined;
}

function explainNoAnswer(cause: Error, { socket, path, timeout, deadline, signal }: Asked): Error {
  if (signal?.aborted === true) return signal.reason as Error;
  if (deadline.aborted) {
    return new PodwireError('DEADLINE_EXCEEDED', `the agent did not answer ${path} within ${timeout} ms`);
  }
  const code = (cause as NodeJS.ErrnoException).code ?? '';
  const why = noAnswerReasons[code] ?? (code.startsWith('HPE_') ? notHttp : cause.message);
  return new PodwireError('AGENT_UNREACHABLE', `no agent answers at ${socket}: ${why}`, {
    details: { socket },
  });
}

const notHttp =
  'what listens there does not speak HTTP; is this the socket for plugins? The one to use here is apiSocket';

const noAnswerReasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such socket',
  ECONNREFUSED: 'nobody listens; the agent that made the socket has ended',
  EACCES: 'permission denied; only root and the agent’s own user may ask',
  ECONNRESET:
    'it closed the connection, as it does for users it does not serve; also the socket for plugins does',
  ENOTSOCK: 'this is no socket',
};

function readAnswer<T>(socket: string, { status, body }: Answer): T {
  const document = parse(socket, body);
  if (status < 400) return document as T;
  const failure = (document as { error?: Partial<Failure> } | undefined)?.error;
  throw new AgentError(
    {
      ...failure,
      code: failure?.code ?? `HTTP_${status}`,
      message: failure?.message ?? `HTTP status ${status}`,
    },
    status,
  );
}

function parse(socket: string, body: string): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch (cause) {
    const message = `what answers at ${socket} is no agent: ${JSON.stringify(body.slice(0, 80))}`;
    throw new PodwireError('AGENT_UNREACHABLE', message, { cause, details: { socket } });
  }
}
