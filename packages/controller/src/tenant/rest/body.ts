/** Bodies of requests, in memory that all connections share. */
import type { ByteBudget } from '@podwire/local-api';

export interface BodyLimits {
  /** Bytes of one body. */
  readonly longest: number;
  /** Of all bodies until they are answered. */
  readonly budget: ByteBudget;
}

/** The body of a request, or why there is none: it is too long by itself, or all bodies together are. */
export type Body = Buffer | 'too-long' | 'too-much-at-once';

/**
 * Reads a body, and counts it until `use` is done. One that is refused is read to its end all the same, or its sender would not
 * get to see the answer; nothing of it is kept.
 * @throws the error of the connection
 */
export async function withBody<T>(
  request: AsyncIterable<Buffer>,
  { longest, budget }: BodyLimits,
  use: (body: Body) => Promise<T>,
): Promise<T> {
  const kept = new Kept(budget);
  let [size, refusal] = [0, undefined as Exclude<Body, Buffer> | undefined];
  try {
    for await (const chunk of request) {
      size += chunk.length;
      if (size > longest) refusal ??= 'too-long';
      else if (refusal === undefined && !kept.add(chunk)) refusal = 'too-much-at-once';
      if (refusal !== undefined) kept.drop();
    }
    return await use(refusal ?? Buffer.concat(kept.chunks));
  } finally {
    kept.drop();
  }
}

class Kept {
  readonly chunks: Buffer[] = [];
  readonly #budget: ByteBudget;
  #bytes = 0;

  constructor(budget: ByteBudget) {
    this.#budget = budget;
  }

  /** @returns whether there was room */
  add(chunk: Buffer): boolean {
    if (!this.#budget.take(chunk.length)) return false;
    this.#bytes += chunk.length;
    this.chunks.push(chunk);
    return true;
  }

  drop(): void {
    this.chunks.length = 0;
    this.#budget.giveBack(this.#bytes);
    this.#bytes = 0;
  }
}
