import http from 'node:http';
import { compact } from '@podwire/platform';

export interface RestAnswer<T = unknown> {
  readonly status: number;
  /** Parsed where the server says that it is JSON. */
  readonly body: T;
}

/** Few words for an HTTP API; every call is a connection of its own, so that none is left when a server ends. */
export interface RestClient {
  call<T = unknown>(
    verb: string,
    target: string,
    body?: unknown,
    contentType?: string,
  ): Promise<RestAnswer<T>>;
  /** The body of a 2xx answer. @throws Error with status and body of another one */
  get<T = unknown>(target: string): Promise<T>;
  post<T = unknown>(target: string, body: unknown): Promise<T>;
  /** A merge patch. */
  patch<T = unknown>(target: string, body: unknown): Promise<T>;
  delete<T = unknown>(target: string, body?: unknown): Promise<T>;
}

export function createRestClient(url: string, token?: string): RestClient {
  const call: RestClient['call'] = (verb, target, body, contentType = 'application/json') =>
    request(new URL(target, url), verb, {
      ...compact({ token }),
      ...(body === undefined ? {} : { body: JSON.stringify(body), contentType }),
    });
  const expect = async <T>(
    verb: string,
    target: string,
    body?: unknown,
    contentType?: string,
  ): Promise<T> => {
    const answer = await call<T>(verb, target, body, contentType);
    if (answer.status < 300) return answer.body;
    throw new Error(`${verb} ${target}: ${answer.status} ${JSON.stringify(answer.body)}`);
  };
  return {
    call,
    get: (target) => expect('GET', target),
    post: (target, body) => expect('POST', target, body),
    patch: (target, body) => expect('PATCH', target, body, 'application/merge-patch+json'),
    delete: (target, body) => expect('DELETE', target, body),
  };
}

interface Sent {
  readonly token?: string;
  readonly body?: string;
  readonly contentType?: string;
}

function request<T>(url: URL, method: string, { token, body, contentType }: Sent): Promise<RestAnswer<T>> {
  const headers = {
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(body === undefined ? {} : { 'content-type': contentType, 'content-length': Buffer.byteLength(body) }),
  };
  return new Promise((resolve, reject) => {
    const outgoing = http.request(url, { method, headers, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => (text += part));
      response.on('error', reject);
      response.on('end', () => {
        const isJson = response.headers['content-type']?.includes('json') === true;
        resolve({ status: response.statusCode ?? 0, body: (isJson ? JSON.parse(text) : text) as T });
      });
    });
    outgoing.setTimeout(30_000, () => outgoing.destroy(new Error(`no answer: ${method} ${url.pathname}`)));
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}
