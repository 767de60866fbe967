/** Why a program in a container could not be started, from the words of runtimes; pure. */

export interface StartFailure {
  /** As shells and other container tools have it: 127 not found, 126 found and not executable. */
  readonly exitCode: 126 | 127;
  readonly reason: string;
}

/**
 * runc, and the embedded runtime like it, say `exec: "PROGRAM": REASON`, with what came before it in front and `: unknown` behind; the
 * interface itself has no code for this.
 */
const words = /exec: "[^"]*": (?:stat [^:]*: )?([^:\n]*)/;

const meanings: readonly (readonly [RegExp, StartFailure])[] = [
  [/not found|no such file/i, { exitCode: 127, reason: 'executable file not found' }],
  [/is a directory/i, { exitCode: 126, reason: 'is a directory' }],
  [/permission denied/i, { exitCode: 126, reason: 'permission denied' }],
  [/exec format error/i, { exitCode: 126, reason: 'exec format error' }],
];

/** @returns undefined for an error that is not about the program */
export function explainStartFailure(error: unknown): StartFailure | undefined {
  if (!(error instanceof Error)) return undefined;
  const reason = words.exec(error.message)?.[1];
  if (reason === undefined) return undefined;
  return meanings.find(([pattern]) => pattern.test(reason))?.[1];
}
