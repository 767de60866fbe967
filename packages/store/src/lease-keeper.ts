/** Keeps a lease alive, and knows when it can no longer be relied on. */
import { PodwireError } from '@podwire/errors';
import type { Clock, Log } from '@podwire/platform';
import type { Lease } from './contract.js';
import { leaseLost } from './failures.js';

export interface KeptLease {
  readonly lease: Lease;
  /** Aborts with STORE_LEASE_LOST: it has ended, or may have ended. */
  readonly lost: AbortSignal;
  /** Gives it up for lost. */
  lose(cause?: unknown): void;
  /** Keeps it no longer; it is left to expire. `lost` does not abort after this. */
  stop(): void;
}

export interface KeeperOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** `clock.elapsed()` before the lease was asked for. */
  readonly askedAt: number;
}

/** Share of a lease's duration: two clocks run at slightly different rates, and a holder that has lost it needs time to stop. */
const reliable = 0.9;

/**
 * Prolongs the lease every third of its time until `stop`. It is lost when the store says so, or when nine tenths of `ttl` have gone
 * by on the own monotonic clock since the last prolongation that was answered was SENT: the server counts from when it
 * arrived, which is later, so it is lost here first. (What that clock does not count, a machine that slept, only a fence shows.)
 */
export function keepLease(lease: Lease, { clock, log, askedAt }: KeeperOptions): KeptLease {
  const lost = new AbortController();
  const over = new AbortController();
  let validUntil = askedAt + lease.ttl * reliable;
  const lose = (cause?: unknown): void => {
    if (over.signal.aborted) return;
    over.abort();
    lost.abort(
      cause instanceof PodwireError && cause.code === 'STORE_LEASE_LOST' ? cause : leaseLost(lease.id, cause),
    );
  };
  const guard = async (): Promise<void> => {
    for (let left = validUntil - clock.elapsed(); left > 0; left = validUntil - clock.elapsed())
      await clock.sleep(left, over.signal);
    lose();
  };
  const prolong = async (): Promise<boolean> => {
    const sentAt = clock.elapsed();
    try {
      await lease.keepAlive({ signal: over.signal });
      validUntil = sentAt + lease.ttl * reliable;
      return true;
    } catch (error) {
      if (over.signal.aborted) return false;
      if (error instanceof PodwireError && error.code === 'STORE_LEASE_LOST') lose(error);
      else log.warn({ lease: lease.id, error }, 'a lease was not prolonged; it is tried again');
      return false;
    }
  };
  const keep = async (): Promise<void> => {
    for (let well = true; !over.signal.aborted; well = await prolong())
      await clock.sleep(lease.ttl / (well ? 3 : 10), over.signal);
  };
  for (const work of [guard, keep])
    work().catch((error: unknown) => {
      if (!over.signal.aborted) lose(error);
    });
  return { lease, lost: lost.signal, lose, stop: () => over.abort() };
}
