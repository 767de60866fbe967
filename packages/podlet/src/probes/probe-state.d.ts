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
export declare const unprobed: ProbeState;
export declare function nextProbeState(state: ProbeState, { result }: ProbeOutcome, kind: ProbeKind, thresholds: Pick<Probe, 'successThreshold' | 'failureThreshold'>): ProbeState;
/** `unknown`: nobody could look (the runtime was away, the port has no number). It changes no probeResult. */
export type ProbeResult = 'success' | 'failure' | 'unknown';
export interface ProbeOutcome {
    readonly result: ProbeResult;
    /** For people. */
    readonly why: string;
}
export declare const success: (why?: string) => ProbeOutcome;
export declare const failure: (why: string) => ProbeOutcome;
export declare const unknown: (why: string) => ProbeOutcome;
//# sourceMappingURL=probe-state.d.ts.map