/** The connection to one bridge: opened when something needs it, and again after it has ended. */
import type { OpenOptions, SwitchConnection, SwitchEvent } from '@podwire/openflow';
import { OpenFlowError, SwitchError } from '@podwire/openflow';
import { type Clock, orAborted, withDeadline } from '@podwire/platform';
import { isCut, isNoBridge } from './errors.js';

/** Opens a connection to a bridge, as `openSwitch` does with its management socket. */
export type OpenBridge = (bridge: string, options: OpenOptions) => Promise<SwitchConnection>;

export interface LinkOptions {
  readonly open: OpenBridge;
  /** Milliseconds that one call may take. */
  readonly timeout: number;
  readonly clock: Pick<Clock, 'sleep'>;
}

/** Between two attempts to reach a bridge that is being made, milliseconds. */
const PAUSE = 20;

/** An event of the switch, or the news that some were missed: the connection has ended, or was made. */
export type LinkEvent = SwitchEvent | 'missed';

export class BridgeLink {
  readonly bridge: string;
  readonly #options: LinkOptions;
  readonly #over = new AbortController();
  readonly #listeners = new Set<(event: LinkEvent) => void>();
  #connection: Promise<SwitchConnection> | undefined;

  constructor(bridge: string, options: LinkOptions) {
    this.bridge = bridge;
    this.#options = options;
  }

  /**
   * Does something with the connection, within the deadline.
   * @param waits for a bridge that is not there yet: its row may have been written a moment ago
   * @throws Error of the system, OpenFlowError; the signal's reason
   */
  async use<T>(
    signal: AbortSignal,
    work: (connection: SwitchConnection, signal: AbortSignal) => Promise<T>,
    waits = false,
  ): Promise<T> {
    const { timeout } = this.#options;
    const reason = (): Error => new OpenFlowError('ETIMEDOUT', `no answer in ${timeout} ms`);
    return withDeadline(
      signal,
      timeout,
      async (either) => {
        const connection = await (waits ? this.#connectPatiently(either) : this.#connect(either));
        return orAborted(work(connection, either), either);
      },
      { reason },
    );
  }

  /** As {@link use}, for work that changes nothing: again where the switch ended the connection, as when it is restarted. */
  async look<T>(
    signal: AbortSignal,
    work: (connection: SwitchConnection, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    try {
      return await this.use(signal, work);
    } catch (error) {
      if (!isCut(error)) throw error;
      return this.use(signal, work);
    }
  }

  /** Calls the listener with each event. Begins to follow the bridge. @returns how to unsubscribe */
  subscribe(listener: (event: LinkEvent) => void): () => void {
    this.#listeners.add(listener);
    this.keepFollowing();
    return () => this.#listeners.delete(listener);
  }

  /** Connects, unless that is under way or done. Where it fails, the next call tries again. */
  keepFollowing(): void {
    if (!this.#over.signal.aborted) this.#begin().catch(() => undefined);
  }

  close(): void {
    this.#over.abort(new OpenFlowError('ENOTCONN', 'the backend is closed'));
    this.#connection?.then((connection) => connection.close()).catch(() => undefined);
  }

  #connect(signal: AbortSignal): Promise<SwitchConnection> {
    return orAborted(this.#begin(), signal);
  }

  async #connectPatiently(signal: AbortSignal): Promise<SwitchConnection> {
    for (let last: unknown; ;) {
      try {
        return await this.#connect(signal);
      } catch (error) {
        if (signal.aborted) throw last ?? error;
        if (!isNoBridge(error)) throw error;
        last = error;
      }
      // After the deadline the next attempt fails at once.
      await this.#options.clock.sleep(PAUSE, signal).catch(() => undefined);
    }
  }

  #begin(): Promise<SwitchConnection> {
    this.#connection ??= this.#open().catch((error: unknown) => {
      this.#connection = undefined;
      throw error;
    });
    return this.#connection;
  }

  async #open(): Promise<SwitchConnection> {
    const { signal } = this.#over;
    signal.throwIfAborted();
    const { open, timeout } = this.#options;
    const connection = await open(this.bridge, { signal, timeout });
    try {
      await this.#follow(connection, signal);
    } catch (error) {
      connection.close();
      throw error;
    }
    void connection.closed.then(() => this.#forget());
    this.#report('missed');
    return connection;
  }

  async #follow(connection: SwitchConnection, signal: AbortSignal): Promise<void> {
    try {
      const events = await connection.watch(['flow_change'], { signal });
      void this.#reportAll(connection, events);
    } catch (error) {
      // A switch that cannot report changes is looked at from time to time.
      if (!(error instanceof SwitchError)) throw error;
    }
  }

  /** Ends with the connection; where it fails earlier, events were lost, and a new connection begins anew. */
  async #reportAll(connection: SwitchConnection, events: AsyncIterable<SwitchEvent>): Promise<void> {
    try {
      for await (const event of events) this.#report(event);
    } catch {
      connection.close();
    }
  }

  #forget(): void {
    this.#connection = undefined;
    this.#report('missed');
  }

  #report(event: LinkEvent): void {
    for (const listener of this.#listeners) listener(event);
  }
}
