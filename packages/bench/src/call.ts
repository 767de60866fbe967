/** Between a part of the benchmark and its caller. */
export interface BenchProgress {
  readonly phase: string;
  readonly done: number;
  readonly total: number;
}

export interface BenchCall {
  readonly signal: AbortSignal;
  readonly progress: (progress: BenchProgress) => void;
}

/** The same for one measurement of a part. */
export interface StepCall {
  readonly signal: AbortSignal;
  readonly progress: (step: string, done: number, total: number) => void;
}

/** Reports each step as a phase. @throws the signal's reason at the first step after an abort */
export const stepsOf = ({ signal, progress }: BenchCall): StepCall => ({
  signal,
  progress: (phase, done, total) => {
    signal.throwIfAborted();
    progress({ phase, done, total });
  },
});

/** Podwire as it is run. */
export interface Programs {
  /** Directory with `podwire-cni`. */
  readonly binDir: string;
  /** The agent's command line up to `--config FILE`. */
  readonly agent: readonly string[];
}
