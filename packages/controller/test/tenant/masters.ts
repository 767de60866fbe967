/** Masters on free ports of this machine, over one store in memory. */
import { silentLog, systemClock } from '@podwire/platform';
import { createMemoryServer, type MemoryServer } from '@podwire/store/memory';
import { runTenantMaster, type TenantControllerOptions } from '../../src/index.js';

export interface RunningMaster {
  /** `http://HOST:PORT` */
  readonly url: string;
  /** Ends it as a signal would. */
  stop(): Promise<void>;
}

export class Masters {
  readonly server: MemoryServer = createMemoryServer();
  readonly #running: RunningMaster[] = [];

  async start(options: Partial<TenantControllerOptions> = {}): Promise<RunningMaster> {
    const over = new AbortController();
    const store = this.server.connect();
    let ended: Promise<void> = Promise.resolve();
    const address = await new Promise<string>((resolve, reject) => {
      ended = runTenantMaster(
        {
          ...{ store, clock: systemClock, log: silentLog, version: '1.2.3', onListening: resolve },
          ...{ listen: { host: '127.0.0.1', port: 0 }, ttl: 3_000 },
          ...options,
        },
        over.signal,
      );
      ended.catch(reject);
    });
    const stop = async (): Promise<void> => {
      over.abort();
      await ended;
    };
    const master = { url: `http://${address}`, stop };
    this.#running.push(master);
    return master;
  }

  async stop(): Promise<void> {
    for (const master of this.#running.splice(0).toReversed()) await master.stop();
  }
}

export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly json: unknown;
  readonly headers: Headers;
}

/** One request; a body that is no text is sent as JSON. */
export async function ask(
  url: string,
  method = 'GET',
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
  const answer = await fetch(url, { method, headers, ...(text !== undefined && { body: text }) });
  const received = await answer.text();
  return { status: answer.status, text: received, json: parse(received), headers: answer.headers };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Asks until a master leads. */
export async function askLeader(...parameters: Parameters<typeof ask>): Promise<Answer> {
  for (;;) {
    const answer = await ask(...parameters);
    if (answer.status !== 503) return answer;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
