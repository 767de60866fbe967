import { describeError } from '@podwire/errors';
import { hasCode } from '@podwire/linux';
import { deleteLinkGroup } from '@podwire/netlink';
import type { EngineContext } from './context.js';
import { doomedGroup } from './marks.js';

/**
 * Deletes doomed links together, when things are quiet. A link's death costs the kernel a grace period of some 20 ms, which
 * links that die in one request share. The request blocks a pool thread, not the caller; but the kernel holds its rtnl lock
 * for some 0.17 ms for each link of it (measured), so the links are spread over groups of a bounded size.
 */
export interface LinkReaper {
  /** The group to put so many links into. They are deleted some time after. */
  doom(links: number): number;
  /** A group in which an earlier life of the agent left links. */
  adopt(group: number): void;
  /** Somebody is working: what is doomed can wait a little longer. */
  noteActivity(): void;
  /** Deletes what is doomed now and resolves when it is gone. What cannot be deleted is tried again later. */
  settle(): Promise<void>;
  /** The same for the last time. What cannot be deleted is the next life's: it finds it by its group. */
  close(): Promise<void>;
}

/** Links in one group: the lock is held for some 5 ms. */
const GROUP_SIZE = 32;
/** How long nobody must have worked, and how long doomed links wait at most for such a moment, in milliseconds. */
const QUIET = 25;
const PATIENCE = 1_000;
const DEADLINE = 10_000;

export function createLinkReaper(context: EngineContext, onError: (message: string) => void): LinkReaper {
  return new Reaper(context, onError);
}

class Reaper implements LinkReaper {
  readonly #context: EngineContext;
  readonly #onError: (message: string) => void;
  readonly #waiting = new Set<number>();
  #sequence = 0;
  #inGroup = 0;
  #timer: NodeJS.Timeout | undefined;
  #oldest = 0;
  #lastActivity = 0;
  #running: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(context: EngineContext, onError: (message: string) => void) {
    this.#context = context;
    this.#onError = onError;
  }

  doom(links: number): number {
    if (this.#inGroup >= GROUP_SIZE) this.#startGroup();
    this.#inGroup += links;
    const group = doomedGroup(this.#sequence);
    this.adopt(group);
    return group;
  }

  #startGroup(): void {
    this.#sequence += 1;
    this.#inGroup = 0;
  }

  adopt(group: number): void {
    if (this.#waiting.size === 0) this.#oldest = this.#context.now();
    this.#waiting.add(group);
    this.#wakeIn(QUIET);
  }

  #wakeIn(delay: number): void {
    if (!this.#closed) this.#timer ??= setTimeout(() => this.#wake(), delay);
  }

  noteActivity(): void {
    this.#lastActivity = this.#context.now();
  }

  #wake(): void {
    this.#timer = undefined;
    const now = this.#context.now();
    const busy = now - this.#lastActivity < QUIET && now - this.#oldest < PATIENCE;
    if (busy) this.#wakeIn(QUIET);
    else this.settle().catch((error: unknown) => this.#complain(error));
  }

  #complain(error: unknown): void {
    this.#onError(`cannot delete doomed links: ${describeError(error)}`);
  }

  async settle(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const mine = this.#running.then(async () => this.#reapAll());
    this.#running = mine.catch(() => undefined);
    await mine;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.settle().catch((error: unknown) => this.#complain(error));
  }

  async #reapAll(): Promise<void> {
    this.#startGroup(); // nothing must join a group that is being deleted
    const groups = [...this.#waiting];
    this.#waiting.clear();
    for (const [index, group] of groups.entries()) {
      try {
        await this.#reap(group);
      } catch (error) {
        this.#postpone([...groups.slice(index + 1), group]);
        throw error;
      }
    }
  }

  /** The one that failed comes last, or it would keep the others from their turn for ever. */
  #postpone(groups: readonly number[]): void {
    if (this.#waiting.size === 0) this.#oldest = this.#context.now();
    for (const group of groups) this.#waiting.add(group);
    this.#wakeIn(PATIENCE);
  }

  async #reap(group: number): Promise<void> {
    const { kernel, faults } = this.#context;
    faults.reach('reap:begin');
    try {
      await kernel.background.requestAsync([deleteLinkGroup(group)], AbortSignal.timeout(DEADLINE));
    } catch (error) {
      if (!hasCode(error, 'ENODEV')) throw error; // nobody is left: their namespaces died first
    }
    faults.reach('reap:end');
  }
}
