import type { CallOptions } from '@podwire/cri';

/** As a client of the interface would have it. */
const defaultTimeoutMs = 120_000;

/** The caller's signal and deadline in one; `extra` milliseconds are what the call itself may take longer. */
export function signalOf(options: CallOptions | undefined, extra = 0): AbortSignal {
  const deadline = AbortSignal.timeout((options?.timeoutMs ?? defaultTimeoutMs) + extra);
  return options?.signal === undefined ? deadline : AbortSignal.any([options.signal, deadline]);
}

/** For calls that may take as long as they take. */
export const never: AbortSignal = new AbortController().signal;
