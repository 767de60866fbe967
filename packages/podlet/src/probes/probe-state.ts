import type { ProbeKind } from '../parts.js';
import type { Probe } from '@podwire/pod-spec';

/** How outcomes become a probeResult: pure, one step after the other (Kubernetes API, Probe). */

export interface ProbeState {
  /** Undefined until a threshold has been reached for the first time. */
  readonly probeResult: boolean | undefined;
  readonly lastResult: boolean | undefined;
  /** How often `lastResult` came in a row. */
  readonly count: number;
  /** Nothing more is to be found out of this container. */
  readonly finished: boolean;
}

export const unprobed: ProbeState = {
  probeResult: undefined,
  lastResult: undefined,
  count: 0,
  finished: false,
};

export function nextProbeState(
  state: ProbeState,
  { result }: ProbeOutcome,
  kind: ProbeKind,
  thresholds: Pick<Probe, 'successThreshold' | 'failureThreshold'>,
): ProbeState {
  if (result === 'unknown') return state;
  const isSuccess = result === 'success';
  const count = state.lastResult === isSuccess ? state.count + 1 : 1;
  const counted = { ...state, lastResult: isSuccess, count };
  const threshold = isSuccess ? thresholds.successThreshold : thresholds.failureThreshold;
  if (count < threshold) return counted;
  return { ...counted, probeResult: isSuccess, finished: isFinal(kind, isSuccess) };
}

/** A startup probe that succeeded has done its work; a container that failed its life or start is about to be ended. */
function isFinal(kind: ProbeKind, isSuccess: boolean): boolean {
  if (kind === 'startup') return true;
  return kind === 'liveness' && !isSuccess;
}

/** `unknown`: the probe could not run (the runtime was away, the port has no number). It does not change the result. */
export type ProbeResult = 'success' | 'failure' | 'unknown';

export interface ProbeOutcome {
  readonly result: ProbeResult;
  /** For people. */
  readonly why: string;
}

export const success = (why = 'ok'): ProbeOutcome => ({ result: 'success', why });
export const failure = (why: string): ProbeOutcome => ({ result: 'failure', why });
export const unknown = (why: string): ProbeOutcome => ({ result: 'unknown', why });
