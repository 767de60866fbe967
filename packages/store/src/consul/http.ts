/** Requests to Consul's HTTP API: several endpoints, the ACL token, deadlines, and what an answer says about the request. */
import http from 'node:http';
import https from 'node:https';
import { describeError, PodwireError } from '@podwire/errors';
import { compact, type Log, withDeadline } from '@podwire/platform';
import { unavailable } from '../failures.js';
import { type Credentials, loadCredentials } from './credentials.js';
import type { ConsulSpec } from './options.js';

export interface Call {
  readonly method: 'GET' | 'PUT';
  /** Below the endpoint, with its query: `/v1/kv/a?consistent`. */
  readonly path: string;
  readonly body?: string;
  /** May be done twice: it is sent to the next endpoint when its outcome is unknown. */
  readonly repeatable: boolean;
  /** Milliseconds for one endpoint, when it is not as long as others. */
  readonly deadline?: number;
  readonly signal?: AbortSignal | undefined;
}

export interface Reply {
  readonly status: number;
  readonly text: string;
  /** X-Consul-Index. */
  readonly index: number | undefined;
}

export interface ConsulHttp {
  /**
   * @returns answers with 200, 404 and 409
   * @throws PodwireError STORE_UNAVAILABLE, STORE_DENIED, REQUEST_INVALID; the reason of the call's own signal
   */
  send(call: Call): Promise<Reply>;
  close(): void;
}

/** An attempt at one endpoint. `sent`: bytes of it may have arrived. */
interface Failure {
  readonly error: unknown;
  readonly sent: boolean;
}

const defaultDeadline = 5_000;

export function createHttp(spec: ConsulSpec, log: Log, deadline = defaultDeadline): ConsulHttp {
  const endpoints = spec.endpoints.map((each) => each.replace(/\/+$/, ''));
  const credentials = loadCredentials(spec);
  const agents = {
    http: new http.Agent({ keepAlive: true }),
    https: new https.Agent({ keepAlive: true, ...credentials.tls }),
  };
  // The one that answered last is asked first.
  let preferred = 0;
  let closed = false;

  const attempt = async (endpoint: string, call: Call): Promise<Reply | Failure> => {
    const timed = { deadline, ...call };
    const token = credentials.token();
    const answer = await sendTo(endpoint, timed, credentials, agents);
    if ('error' in answer || answer.status !== 403 || !credentials.reloadToken(token)) return answer;
    return sendTo(endpoint, timed, credentials, agents);
  };

  return {
    async send(call) {
      call.signal?.throwIfAborted();
      const failures: string[] = [];
      const first = preferred;
      let uncertain = false;
      for (let turn = 0; turn < endpoints.length; turn++) {
        if (closed) throw unavailable('the store is closed', { uncertain });
        const at = (first + turn) % endpoints.length;
        const endpoint = endpoints[at] as string;
        const answer = await attempt(endpoint, call);
        call.signal?.throwIfAborted();
        if (!('error' in answer) && !isPassing(answer)) {
          preferred = at;
          return acceptReply(answer, endpoint);
        }
        const { what, done } = evaluate(answer);
        failures.push(`${endpoint}: ${what}`);
        log.debug({ endpoint, path: call.path, what }, 'Consul did not answer');
        // The next call begins elsewhere.
        preferred = (at + 1) % endpoints.length;
        uncertain ||= done === 'perhaps' && call.method === 'PUT';
        if (uncertain && !call.repeatable) break;
      }
      throw unavailable(failures.join('; '), { uncertain });
    },
    close() {
      closed = true;
      agents.http.destroy();
      agents.https.destroy();
    },
  };
}

/** Answers that another endpoint, or this one later, may not give. */
const isPassing = ({ status }: Reply): boolean => status === 429 || status >= 500;

/** Decides if the request may have been carried out in spite of the answer. */
function evaluate(answer: Reply | Failure): { readonly what: string; readonly done: 'not' | 'perhaps' } {
  if ('error' in answer) return { what: describeError(answer.error), done: answer.sent ? 'perhaps' : 'not' };
  // Refused before it is written: by the rate limit, or for want of a leader.
  const refused = answer.status === 429 || /No cluster leader|rate limit/i.test(answer.text);
  return { what: describeReply(answer), done: refused ? 'not' : 'perhaps' };
}

const describeReply = ({ status, text }: Reply): string => `HTTP ${status} ${text.trim().slice(0, 200)}`;

function acceptReply(reply: Reply, endpoint: string): Reply {
  if ([200, 404, 409].includes(reply.status)) return reply;
  const message = `${endpoint}: ${describeReply(reply)}`;
  if (reply.status === 401 || reply.status === 403) throw new PodwireError('STORE_DENIED', message);
  // 413: too much for one request (kv_max_value_size, txn_max_req_len).
  throw new PodwireError('REQUEST_INVALID', message);
}

type Agents = { readonly http: http.Agent; readonly https: https.Agent };

async function sendTo(
  endpoint: string,
  call: Call & { readonly deadline: number },
  { token, tls }: Credentials,
  agents: Agents,
): Promise<Reply | Failure> {
  let sent = false;
  try {
    return await withDeadline(call.signal, call.deadline, (signal) => {
      const secure = endpoint.startsWith('https:');
      const request = (secure ? https : http).request(`${endpoint}${call.path}`, {
        method: call.method,
        agent: secure ? agents.https : agents.http,
        headers: {
          ...compact({ 'x-consul-token': token() }),
          ...(call.body === undefined ? {} : { 'content-length': Buffer.byteLength(call.body) }),
        },
        signal,
        ...(secure ? tls : {}),
      });
      request.once('socket', (socket) => {
        // Data that Node wrote to a socket that was still connecting was not sent.
        if (socket.connecting) socket.once(secure ? 'secureConnect' : 'connect', () => (sent = true));
        else sent = true;
      });
      request.end(call.body);
      return receive(request);
    });
  } catch (error) {
    return { error, sent };
  }
}

function receive(request: http.ClientRequest): Promise<Reply> {
  return new Promise((resolve, reject) => {
    request.once('error', reject);
    request.once('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('error', reject);
      // `close` without `end`: cut off in the middle.
      response.once('close', () => {
        if (!response.complete) return reject(new Error('the answer was cut off'));
        resolve(readReply(response, Buffer.concat(chunks).toString()));
      });
    });
  });
}

function readReply({ statusCode = 0, headers }: http.IncomingMessage, text: string): Reply {
  // Lists omit items that the token may not read (recent versions say so); they would look deleted.
  if (headers['x-consul-results-filtered-by-acls'] === 'true')
    return { status: 403, text: 'the token may not read all of what was asked for', index: undefined };
  const index = Number(headers['x-consul-index']);
  return { status: statusCode, text, index: Number.isSafeInteger(index) ? index : undefined };
}
