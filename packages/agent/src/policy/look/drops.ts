/** Packets that policy has dropped, as the kernel's log group reports them. */
import { AsyncQueue, type Clock, onAbort, pause } from '@podwire/platform';
import type { Log } from '../../log.js';
import type { Drop, DroppedPacket } from '../contract.js';

export interface DropLogOptions {
  /** Ends with the signal. */
  readonly open: (signal: AbortSignal) => AsyncIterable<DroppedPacket>;
  readonly describe: (packet: DroppedPacket) => Drop;
  readonly clock: Clock;
  readonly log: Log;
}

/** Limits of drops that wait for a reader, and of drops told in one second: a flood must not keep the agent busy. */
const mostWaiting = 1_000;
const mostPerSecond = 500;
/** Milliseconds until the log group is opened again. */
const retryAfter = 5_000;

/** The log group is listened to while there is a reader. */
export class DropLog {
  readonly #options: DropLogOptions;
  /** With how many drops each has not been told of since the last one that it was. */
  readonly #readers = new Map<AsyncQueue<Drop>, number>();
  #listening: AbortController | undefined;
  #second = 0;
  #inSecond = 0;

  constructor(options: DropLogOptions) {
    this.#options = options;
  }

  /** From now on, until the signal. */
  follow(signal: AbortSignal): AsyncIterable<Drop> {
    const reader = new AsyncQueue<Drop>(() => {
      unsubscribe();
      this.#leave(reader);
    });
    let unsubscribe = (): void => undefined;
    this.#join(reader);
    unsubscribe = onAbort(signal, () => reader.end());
    return reader;
  }

  stop(): void {
    for (const reader of [...this.#readers.keys()]) reader.end();
  }

  #join(reader: AsyncQueue<Drop>): void {
    this.#readers.set(reader, 0);
    if (this.#listening !== undefined) return;
    this.#listening = new AbortController();
    void this.#listen(this.#listening.signal);
  }

  #leave(reader: AsyncQueue<Drop>): void {
    this.#readers.delete(reader);
    if (this.#readers.size > 0) return;
    this.#listening?.abort(new DOMException('no reader is left', 'AbortError'));
    this.#listening = undefined;
  }

  async #listen(signal: AbortSignal): Promise<void> {
    const { open, clock, log } = this.#options;
    while (!signal.aborted) {
      try {
        for await (const packet of open(signal)) this.#tell(packet);
      } catch (err) {
        if (!signal.aborted) log.warn({ err }, 'dropped packets cannot be listened to; it is tried again');
      }
      await pause(clock, retryAfter, signal);
    }
  }

  #tell(packet: DroppedPacket): void {
    const second = Math.floor(this.#options.clock.elapsed() / 1_000);
    if (second !== this.#second) [this.#second, this.#inSecond] = [second, 0];
    const drop = ++this.#inSecond > mostPerSecond ? undefined : this.#options.describe(packet);
    for (const [reader, suppressed] of this.#readers) {
      const isTold = drop !== undefined && reader.length < mostWaiting;
      if (isTold) reader.push({ ...drop, suppressed });
      this.#readers.set(reader, isTold ? 0 : suppressed + 1);
    }
  }
}
