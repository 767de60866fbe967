/** The few verbs of the Kubernetes API that a pod agent needs, as JSON over one connection pool. */
import { describeError } from '@podwire/errors';
import { splitLines } from '@podwire/local-api';
import { createSecureContext } from 'node:tls';
import { isDeepStrictEqual } from 'node:util';
import { compact, deadlineSignal } from '@podwire/platform';
import { type Dispatcher, errors, Pool } from 'undici';
import type { ClusterAccess } from './kubeconfig.js';

/** An error response of the API server. */
export class KubernetesError extends Error {
  /** HTTP. */
  readonly status: number;
  /** The API's own word: `NotFound`, `Conflict`, `Expired` … */
  readonly reason: string;

  constructor(status: number, reason: string, message: string) {
    super(message);
    this.name = 'KubernetesError';
    this.status = status;
    this.reason = reason;
  }
}

/**
 * True for the answer to a write with a UID in it whose object is gone, or another one by now. A delete with another uid is a conflict;
 * a patch with another one would change what is immutable. A patch is a conflict too when others write faster than the server tries
 * again.
 */
export function isAboutAnother(error: unknown): boolean {
  if (!(error instanceof KubernetesError)) return false;
  const { status, message } = error;
  if (status === 409) return !message.includes('the object has been modified');
  return status === 404 || (status === 422 && message.includes('metadata.uid: Invalid'));
}

export interface RequestOptions {
  readonly signal: AbortSignal;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: unknown;
  /** `application/json` when absent. */
  readonly contentType?: string;
}

export interface WatchOptions extends RequestOptions {
  /** The server has begun to answer. */
  readonly onOpen?: () => void;
}

export type Verb = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';

const requestDeadline = 30_000;
/**
 * Bookmarks come every minute. When three are missing, the server is gone: a connection that was cut without a word stays open
 * for ever otherwise, and no pod is heard of again (kubernetes #87615).
 */
const usualSilence = 180_000;
/** An answer longer than this is no answer of an API server: 500 pods are some megabytes. */
const longestAnswer = 256 * 1024 * 1024;

export interface ClientOptions {
  /** Milliseconds after which a watch that says nothing is given up. */
  readonly watchSilence?: number;
  /** Milliseconds between two looks at files that others renew; 5 s when absent. */
  readonly renewEvery?: number;
  /** Why new credentials cannot be used: those from before stay. Once for each reason. */
  readonly onTrouble?: (message: string) => void;
}

export class KubernetesClient {
  readonly #watchSilence: number;
  readonly #onTrouble: (message: string) => void;
  readonly #timer: NodeJS.Timeout | undefined;
  #connection: Connection;
  #isRenewing = false;
  #trouble: string | undefined;

  constructor(
    access: ClusterAccess,
    { watchSilence = usualSilence, renewEvery = 5_000, onTrouble = () => undefined }: ClientOptions = {},
  ) {
    this.#watchSilence = watchSilence;
    this.#onTrouble = onTrouble;
    this.#connection = connect(access);
    if (access.renew !== undefined) this.#timer = setInterval(() => void this.#renew(), renewEvery).unref();
  }

  /** @throws KubernetesError; the connection's errors; the signal's reason. 30 s at most */
  async request<T>(verb: Verb, path: string, options: RequestOptions): Promise<T> {
    const signal = deadlineSignal(requestDeadline, options.signal);
    const body = await this.#send(verb, path, { ...options, signal });
    return JSON.parse(await readAll(body, longestAnswer)) as T;
  }

  /** The documents of a watch while they come. @throws as `request`; ends when the server ends it */
  async *watch<T>(path: string, options: WatchOptions): AsyncGenerator<T> {
    const { replaced } = this.#connection;
    const signal = AbortSignal.any([options.signal, replaced.signal]);
    let body: Dispatcher.ResponseData['body'] | undefined;
    try {
      body = await this.#send('GET', path, { ...options, signal }, this.#watchSilence);
      options.onOpen?.();
      for await (const line of splitLines(body as AsyncIterable<Buffer>))
        if (line !== '') yield JSON.parse(line) as T;
    } catch (error) {
      // As if the server had ended it: the next one begins with the new credentials.
      if (replaced.signal.aborted && !options.signal.aborted) return;
      if (!(error instanceof errors.BodyTimeoutError)) throw error;
      const seconds = this.#watchSilence / 1000;
      throw new Error(`the API server has said nothing for ${seconds} s`, { cause: error });
    } finally {
      body?.on('error', () => undefined).destroy();
    }
  }

  close(): Promise<void> {
    clearInterval(this.#timer);
    return this.#connection.pool.destroy();
  }

  /** A certificate that is renewed in place is used within seconds, or the server would refuse the old one some day. */
  async #renew(): Promise<void> {
    if (this.#isRenewing) return;
    this.#isRenewing = true;
    const { access } = this.#connection;
    try {
      const renewed = await access.renew!(AbortSignal.timeout(requestDeadline));
      if (isDeepStrictEqual(identityOf(renewed), identityOf(access))) this.#connection.access = renewed;
      else this.#replace(renewed);
      this.#trouble = undefined;
    } catch (error) {
      const message = describeError(error);
      if (message !== this.#trouble) this.#onTrouble(`credentials cannot be renewed: ${message}`);
      this.#trouble = message;
    } finally {
      this.#isRenewing = false;
    }
  }

  /** Requests that are under way end on the old connections. @throws for a certificate without its key */
  #replace(access: ClusterAccess): void {
    createSecureContext({ ...access.certificate, ...compact({ ca: access.authority }) });
    const { pool, replaced } = this.#connection;
    this.#connection = connect(access);
    replaced.abort(new Error('the credentials were renewed'));
    // Requests that are under way have deadlines of their own.
    pool.close().catch(() => undefined);
  }

  async #send(verb: Verb, path: string, options: RequestOptions, bodyTimeout = 0) {
    const { signal, query, body, contentType = 'application/json' } = options;
    const token = await this.#connection.access.token?.(signal);
    // Only now: the credentials may have been renewed while a token was asked for.
    const { base, pool } = this.#connection;
    const response = await pool.request({
      method: verb,
      path: base + path + formatQuery(query),
      signal,
      bodyTimeout,
      headers: {
        accept: 'application/json',
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': contentType }),
      },
      body: body === undefined ? null : JSON.stringify(body),
    });
    if (response.statusCode >= 400)
      throw describe(response.statusCode, await readAll(response.body, 1 << 20));
    return response.body;
  }
}

interface Connection {
  access: ClusterAccess;
  /** Behind a proxy of several clusters (Rancher) a server has a path of its own. */
  readonly base: string;
  readonly pool: Pool;
  /** Aborts when another connection has taken its place. */
  readonly replaced: AbortController;
}

function connect(access: ClusterAccess): Connection {
  const { origin, pathname } = new URL(access.server);
  const pool = new Pool(origin, {
    connections: 8,
    connect: {
      timeout: 10_000,
      rejectUnauthorized: access.verify,
      ...access.certificate,
      ...compact({ ca: access.authority, servername: access.serverName }),
    },
    headersTimeout: requestDeadline,
    // Of requests the whole deadline counts, of watches their silence.
    bodyTimeout: 0,
    maxResponseSize: -1,
  });
  return { access, base: pathname.replace(/\/+$/, ''), pool, replaced: new AbortController() };
}

/** The parts that a connection is made of. Tokens are asked for with every request. */
const identityOf = ({ token: _, renew: __, ...identity }: ClusterAccess): object => identity;

function formatQuery(query: RequestOptions['query'] = {}): string {
  const entries = Object.entries(query).filter(([, value]) => value !== undefined);
  if (entries.length === 0) return '';
  return `?${new URLSearchParams(Object.fromEntries(entries.map(([key, value]) => [key, String(value)]))).toString()}`;
}

async function readAll(body: AsyncIterable<Buffer>, limit: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > limit) throw new Error(`the API server's answer is longer than ${limit} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Errors are Status objects (API conventions, "Response Status Kind"); proxies in between answer anything. */
function describe(status: number, text: string): KubernetesError {
  try {
    const { reason, message } = JSON.parse(text) as { reason?: string; message?: string };
    return new KubernetesError(status, reason ?? '', message ?? `HTTP status ${status}`);
  } catch {
    return new KubernetesError(status, '', `HTTP status ${status}: ${text.slice(0, 200)}`);
  }
}
