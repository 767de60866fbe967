/** A view, the common part of commands that print state: text, names, documents, once or with `-w` at each change. */
export interface View<T> {
  /** @throws as the API or the store does */
  readonly read: (signal: AbortSignal) => Promise<T>;
  /** The value as documents show it. */
  readonly data: (value: T) => unknown;
  /** For people. */
  readonly lines: (value: T) => string[] | Promise<string[]>;
  /** For `-o name`, one a line. */
  readonly names?: (value: T) => readonly string[];
  /** Notes for people beside the table, on standard error. */
  readonly notes?: (value: T) => readonly string[];
  /** Sets the exit code. */
  readonly evaluate?: (value: T) => void;
  readonly watch?: Watching<T>;
}

export interface Watching<T> {
  /** The rows of the table in its order: in a pipe those that have changed are printed again. */
  readonly rows?: (value: T) => readonly unknown[];
  /** The part that counts as a change, where not everything does. */
  readonly essence?: (value: T) => unknown;
  /** Calls `wake` at each change, until the signal; without it a change is seen within a second. */
  readonly follow?: (wake: () => void, signal: AbortSignal) => Promise<void>;
}
