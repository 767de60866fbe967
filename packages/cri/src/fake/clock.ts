/** Milliseconds. Tests pass their own; the podlet's clock fits. */
export interface FakeClock {
  /** Since the epoch. */
  now(): number;
  /** @throws the signal's reason */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
}

export const realClock: FakeClock = {
  now: Date.now,
  sleep: async (milliseconds, signal) => {
    const { setTimeout } = await import('node:timers/promises');
    await setTimeout(milliseconds, undefined, { signal });
  },
};

export const toNanoseconds = (milliseconds: number): bigint =>
  BigInt(Math.round(milliseconds * 1000)) * 1000n;
