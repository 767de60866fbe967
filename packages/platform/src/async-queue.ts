/** Async queue behind a watch: pushed by one side, iterated by the other. */

interface Consumer<T> {
  readonly resolve: (result: IteratorResult<T>) => void;
  readonly reject: (error: unknown) => void;
}

export class AsyncQueue<T> implements AsyncIterableIterator<T> {
  readonly #onEnd: () => void;
  #queue: T[] = [];
  #waiting: Consumer<T>[] = [];
  #end: { readonly error?: unknown } | undefined;
  #onTaken = (): void => undefined;

  /** @param onEnd called once, when either side has ended it */
  constructor(onEnd: () => void = () => undefined) {
    this.#onEnd = onEnd;
  }

  get length(): number {
    return this.#queue.length;
  }

  get ended(): boolean {
    return this.#end !== undefined;
  }

  push(value: T): void {
    if (this.#end !== undefined) return;
    const waiting = this.#waiting.shift();
    if (waiting === undefined) this.#queue.push(value);
    else waiting.resolve({ done: false, value });
  }

  /** Back-pressure for the producer: resolves when fewer items than `limit` are queued, or when the queue has ended. */
  async untilShorter(limit: number): Promise<void> {
    while (this.#end === undefined && this.#queue.length >= limit)
      await new Promise<void>((resolve) => (this.#onTaken = resolve));
  }

  /** Drops the queued items. */
  clear(): void {
    this.#queue = [];
  }

  /** Queued items are dropped. */
  end(): void {
    this.#finish({});
  }

  /** The consumer's next call throws this error, once; then the queue has ended. Queued items are dropped. */
  fail(error: unknown): void {
    this.#finish({ error });
  }

  next(): Promise<IteratorResult<T>> {
    const value = this.#queue.shift();
    this.#onTaken();
    if (value !== undefined) return Promise.resolve({ done: false, value });
    const end = this.#end;
    if (end === undefined)
      return new Promise((resolve, reject) => void this.#waiting.push({ resolve, reject }));
    this.#end = {};
    return 'error' in end ? rejection(end.error) : Promise.resolve({ done: true, value: undefined });
  }

  return(): Promise<IteratorResult<T>> {
    this.end();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #finish(end: { readonly error?: unknown }): void {
    if (this.#end !== undefined) return;
    const [first, ...others] = this.#waiting;
    this.#end = first === undefined ? end : {};
    this.#queue = [];
    this.#waiting = [];
    if (first !== undefined && 'error' in end) first.reject(end.error);
    else first?.resolve({ done: true, value: undefined });
    for (const { resolve } of others) resolve({ done: true, value: undefined });
    this.#onTaken();
    this.#onEnd();
  }
}

const rejection = (error: unknown): Promise<never> =>
  Promise.reject(error instanceof Error ? error : new Error(String(error)));
