import { expect } from 'vitest';

/** An expectation that comes true in time, however busy the machine is. */
export function eventually<T>(read: () => T): ReturnType<typeof expect.poll<T>> {
  return expect.poll(read, { timeout: 30_000 });
}
