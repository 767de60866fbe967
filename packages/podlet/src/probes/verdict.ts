/** How outcomes become a verdict: pure, one step after the other (Kubernetes API, Probe). */
import type { ProbeKind } from '../parts.js';
import type { Probe } from '@podwire/pod-spec';
import type { ProbeOutcome } from './outcome.js';

export interface ProbeState {
  /** Undefined until a threshold has been reached for the first time. */
  readonly verdict: boolean | undefined;
  readonly lastResult: boolean | undefined;
  /** How often `lastResult` came in a row. */
  readonly count: number;
  /** Nothing more is to be found out of this container. */
  readonly finished: boolean;
}

export const unprobed: ProbeState = { verdict: undefined, lastResult: undefined, count: 0, finished: false };

export function judge(
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
  return { ...counted, verdict: isSuccess, finished: isFinal(kind, isSuccess) };
}

/** A startup probe that succeeded has done its work; a container that failed its life or start is about to be ended. */
function isFinal(kind: ProbeKind, isSuccess: boolean): boolean {
  if (kind === 'startup') return true;
  return kind === 'liveness' && !isSuccess;
}
