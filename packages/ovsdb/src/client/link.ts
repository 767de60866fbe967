/** The connection of a client, which is made again and again. */
import { backoffDelay, onAbort, pause, waitUntil, withDeadline } from '@podwire/platform';
import type { Monitor } from '../cache/monitor.js';
import { OvsdbError } from '../errors.js';
import type { Settings } from './options.js';
import { openSession, type Session } from './session.js';

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds; that of the client when absent. */
  readonly timeout?: number | undefined;
}

/** The connection of a client now. */
export type ClientState =
  | { readonly connected: true; readonly endpoint: string }
  /** With the reason for which there is none, if one was tried. */
  | { readonly connected: false; readonly reason: Error | undefined };

const closedError = (): OvsdbError => new OvsdbError('NOT_SENT', 'the client is closed');

export class Link {
  readonly #settings: Settings;
  readonly #monitors: ReadonlyMap<string, Monitor>;
  readonly #listeners = new Set<(state: ClientState) => void>();
  readonly #over = new AbortController();
  readonly #loop: Promise<void>;
  #session: Session | undefined;
  #reason: Error | undefined;

  /** Begins to connect. `monitors` are those of each moment, by id: every connection goes on with them. */
  constructor(settings: Settings, monitors: ReadonlyMap<string, Monitor>) {
    this.#settings = settings;
    this.#monitors = monitors;
    this.#loop = this.#stayConnected();
  }

  /** The connection that can be used now, if there is one. */
  get session(): Session | undefined {
    return this.#session;
  }

  get state(): ClientState {
    return this.#session === undefined
      ? { connected: false, reason: this.#reason }
      : { connected: true, endpoint: this.#session.endpoint };
  }

  subscribe(listener: (state: ClientState) => void): () => void {
    const own = (state: ClientState): void => listener(state);
    this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  }

  /** Waits for a connection. @throws OvsdbError `NOT_SENT`: there is none in time; the signal's reason */
  async connected({ signal, timeout = this.#settings.timeout }: CallOptions): Promise<Session> {
    const { clock, endpoints } = this.#settings;
    if (this.#over.signal.aborted) throw closedError();
    const reason = (): Error => {
      const message = `no connection to ${endpoints.join(', ')} within ${timeout} ms: ${this.#reason?.message}`;
      return new OvsdbError('NOT_SENT', message, { cause: this.#reason });
    };
    const isSo = (): boolean => this.#session !== undefined || this.#over.signal.aborted;
    const wait = (either: AbortSignal): Promise<void> =>
      waitUntil(isSo, (listener) => this.subscribe(listener), either);
    await withDeadline(signal, timeout, wait, { clock, reason });
    if (this.#session === undefined) throw closedError();
    return this.#session;
  }

  async close(): Promise<void> {
    this.#over.abort(closedError());
    await this.#loop;
  }

  async #stayConnected(): Promise<void> {
    const { endpoints, backoff, clock, random, log } = this.#settings;
    const { signal } = this.#over;
    for (let attempt = 0, failures = 0; !signal.aborted; attempt++) {
      const endpoint = endpoints[attempt % endpoints.length]!;
      const begin = clock.elapsed();
      this.#reason = await this.#useEndpoint(endpoint);
      this.#set(undefined);
      log.debug({ endpoint, err: this.#reason }, 'no connection to the database');
      // A connection that lasted is no failure; one that ended at once is.
      failures = clock.elapsed() - begin > backoff.longest ? 1 : failures + 1;
      if (failures % endpoints.length !== 0) continue;
      const delay = backoffDelay(failures / endpoints.length, backoff);
      await pause(clock, delay * (1 - random() / 2), signal);
    }
  }

  /** Connects, and stays. @returns the reason for which it ended */
  async #useEndpoint(endpoint: string): Promise<Error> {
    const { connectTimeout, clock, log } = this.#settings;
    const reason = (): Error => new Error(`not connected within ${connectTimeout} ms`);
    try {
      const open = (signal: AbortSignal): Promise<Session> => this.#openSession(endpoint, signal);
      const session = await withDeadline(this.#over.signal, connectTimeout, open, { clock, reason });
      const unsubscribe = onAbort(this.#over.signal, (why) => session.connection.close(why));
      log.info({ endpoint }, 'connected to the database');
      if (session.connection.isOpen) this.#set(session);
      const end = await session.connection.closed;
      unsubscribe();
      return end;
    } catch (error) {
      return error as Error;
    }
  }

  async #openSession(endpoint: string, signal: AbortSignal): Promise<Session> {
    const stream = await this.#settings.open(endpoint, signal);
    const timeout = this.#settings.connectTimeout;
    return openSession({ ...this.#settings, endpoint, stream, timeout, monitors: this.#monitors }, signal);
  }

  #set(session: Session | undefined): void {
    this.#session = session;
    if (session === undefined) for (const monitor of this.#monitors.values()) monitor.detach();
    for (const listener of [...this.#listeners])
      try {
        listener(this.state);
      } catch (error) {
        this.#settings.log.error({ err: error }, 'a listener of a client has failed');
      }
  }
}
