import type { CallOptions } from '@podwire/cri';
import { deadlineSignal } from '@podwire/platform';

/** As a client of the interface would have it. */
const defaultTimeoutMs = 120_000;

/** The caller's signal and deadline in one; `extra` milliseconds are what the call itself may take longer. */
export function signalOf(options: CallOptions | undefined, extra = 0): AbortSignal {
  return deadlineSignal((options?.timeoutMs ?? defaultTimeoutMs) + extra, options?.signal);
}

/** For calls that may take as long as they take. */
export const never: AbortSignal = new AbortController().signal;
