/** `unknown`: nobody could look (the runtime was away, the port has no number). It changes no verdict. */
export type ProbeResult = 'success' | 'failure' | 'unknown';

export interface ProbeOutcome {
  readonly result: ProbeResult;
  /** For people. */
  readonly why: string;
}

export const success = (why = 'ok'): ProbeOutcome => ({ result: 'success', why });
export const failure = (why: string): ProbeOutcome => ({ result: 'failure', why });
export const unknown = (why: string): ProbeOutcome => ({ result: 'unknown', why });
