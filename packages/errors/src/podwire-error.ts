import { type ErrorCode, errorCatalogue } from './catalogue.js';

/** Facts that make an error useful: names, paths, numbers. They are printed and logged, so never a secret. */
export type ErrorDetails = Readonly<
  Record<string, string | number | boolean | readonly string[] | undefined>
>;

/**
 * An error that is part of Podwire's interface: it has a code from the catalogue (`docs/errors.md`), says what
 * happened in `message`, and keeps its cause. What to do about it stands in the catalogue and is at `action`.
 */
export class PodwireError extends Error {
  readonly code: ErrorCode;
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, message: string, options: { cause?: unknown; details?: ErrorDetails } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'PodwireError';
    this.code = code;
    this.details = options.details ?? {};
  }

  /** What the reader can do about it. */
  get action(): string {
    return errorCatalogue[this.code].action;
  }
}

/** The message of anything that was thrown, with its causes: `a: b: c`. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const inner = error instanceof AggregateError ? error.errors.map(describeError).join('; ') : '';
  const parts = [error.message, inner, error.cause === undefined ? '' : describeError(error.cause)];
  return parts.filter((part) => part !== '').join(': ');
}
