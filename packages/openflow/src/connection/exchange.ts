import type { ErrorCode } from '../error-codes.js';
import type { Message } from '../message.js';
import { failureOf, SwitchError, type SwitchFailure } from './switch-error.js';

/** More failures than this say no more. */
const MOST_FAILURES = 100;

export interface ExchangePlan {
  /** The subject of errors. */
  readonly what: string;
  readonly first: number;
  /** Transaction ids in a row. */
  readonly count: number;
  /** The part of them that belongs to the caller's own requests; by default all but the last. */
  readonly own?: { readonly from: number; readonly count: number } | undefined;
  /** Returns true for the last answer. */
  readonly onReply: (message: Message, hasFailed: boolean) => boolean;
}

/**
 * Requests with transaction ids in a row, and what comes back for them. The switch answers in order, so the answer to
 * the last one is the end.
 */
export class Exchange {
  readonly first: number;
  readonly last: number;
  readonly done: Promise<void>;
  readonly #plan: ExchangePlan;
  readonly #failures: SwitchFailure[] = [];
  #resolve: () => void = () => undefined;
  #reject: (error: Error) => void = () => undefined;

  constructor(plan: ExchangePlan) {
    this.first = plan.first;
    this.last = plan.first + plan.count - 1;
    this.#plan = plan;
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // Its failure is reported to the caller, who may have left already.
    this.done.catch(() => undefined);
  }

  owns(xid: number): boolean {
    return xid >= this.first && xid <= this.last;
  }

  accept(xid: number, message: Message): void {
    try {
      if (message.type === 'error') this.#fail(xid, message.error);
      else if (this.#plan.onReply(message, this.#failures.length > 0)) this.#finish();
    } catch (error) {
      this.#reject(error as Error);
    }
  }

  reject(error: Error): void {
    this.#reject(error);
  }

  #fail(xid: number, error: ErrorCode): void {
    const isLast = xid === this.last;
    // That of the last one follows from those before it: a bundle in which a change was refused.
    const isNews = !isLast || this.#failures.length === 0;
    if (isNews && this.#failures.length < MOST_FAILURES)
      this.#failures.push(failureOf(this.#indexOf(xid), error));
    if (isLast) this.#finish();
  }

  #indexOf(xid: number): number {
    const { from, count } = this.#plan.own ?? { from: 0, count: this.#plan.count - 1 };
    const index = xid - this.first - from;
    return index >= 0 && index < count ? index : -1;
  }

  #finish(): void {
    if (this.#failures.length === 0) this.#resolve();
    else this.#reject(new SwitchError(this.#plan.what, this.#failures));
  }
}
