/** Reports of an agent about itself, over its API socket. */
import http from 'node:http';

export interface ApiEndpoint {
  readonly key: string;
  readonly containerId: string;
  readonly ifName: string;
  readonly phase: string;
  readonly addresses: readonly string[];
  readonly hostInterface: string;
}

export interface ApiPool {
  readonly name: string;
  readonly used: number;
  readonly cooling: number;
  /** Decimal text. */
  readonly free: string;
}

export interface ApiLease {
  readonly address: string;
  readonly owner: string;
}

export interface ApiStatus {
  readonly ready: boolean;
  readonly problem: string | null;
  readonly recordProblems: readonly string[];
  readonly networks: readonly { readonly name: string; readonly blocks: readonly string[] }[];
}

export interface AgentApi {
  status(): Promise<ApiStatus>;
  endpoints(): Promise<readonly ApiEndpoint[]>;
  /** The answer that the runtime got, in the newest version. */
  answerOf(key: string): Promise<Readonly<Record<string, unknown>>>;
  /** Entries of a list (of `node`, or of an endpoint) that are not as they should be. */
  drift(owner: string): Promise<readonly unknown[]>;
  leases(): Promise<readonly ApiLease[]>;
  pools(): Promise<readonly ApiPool[]>;
  /** CNI requests that were answered, or whose callers had gone. */
  requestsServed(): Promise<number>;
  reconcile(): Promise<{ readonly failures: readonly string[] }>;
  /** HTTP status of a path. */
  statusOf(path: string): Promise<number>;
}

export function openApi(socket: string): AgentApi {
  const ask = async <T>(method: string, path: string): Promise<T> => {
    const { status, text } = await request(socket, method, path);
    if (status !== 200) throw new Error(`${method} ${path}: ${status} ${text}`);
    return JSON.parse(text) as T;
  };
  const networks = async () =>
    (await ask<{ networks: { pools: ApiPool[]; leases: ApiLease[] }[] }>('GET', '/v1/ipam')).networks;
  return {
    status: () => ask('GET', '/v1/status'),
    endpoints: async () => (await ask<{ endpoints: ApiEndpoint[] }>('GET', '/v1/endpoints')).endpoints,
    answerOf: async (key) =>
      (await ask<{ answer: Record<string, unknown> }>('GET', `/v1/endpoints/${encodeURIComponent(key)}`))
        .answer,
    drift: async (owner) => {
      const { resources } = await ask<{ resources: { state: string }[] }>('GET', `/v1/explain/${owner}`);
      return resources.filter(({ state }) => state !== 'ok');
    },
    leases: async () => (await networks()).flatMap(({ leases }) => leases),
    pools: async () =>
      (await networks()).flatMap(({ pools }) =>
        pools.map(({ name, used, cooling, free }) => ({ name, used, cooling, free })),
      ),
    requestsServed: async () => {
      const { text } = await request(socket, 'GET', '/metrics');
      const counts = [...text.matchAll(/^podwire_requests_total\{.*\} (\d+)$/gm)].map((match) =>
        Number(match[1]),
      );
      return counts.reduce((sum, count) => sum + count, 0);
    },
    reconcile: () => ask('POST', '/v1/reconcile'),
    statusOf: async (path) => (await request(socket, 'GET', path)).status,
  };
}

function request(
  socketPath: string,
  method: string,
  path: string,
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const sent = http.request({ socketPath, method, path, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (text += chunk));
      response.once('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    sent.once('error', reject);
    sent.end();
  });
}
