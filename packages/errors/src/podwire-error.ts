import { type CatalogueEntry, type ErrorCode, errorCatalogue } from './catalogue.js';

/** Facts that make an error useful: names, paths, numbers. They are printed and logged, so never a secret. */
export type ErrorDetails = Readonly<
  Record<string, string | number | boolean | readonly string[] | undefined>
>;

export interface ErrorOptions {
  readonly cause?: unknown;
  readonly details?: ErrorDetails;
  /** Advice, where the catalogue's for the code does not fit; null when there is none. */
  readonly action?: string | null;
}

/**
 * An error that is part of Podwire's interface: it has a code from the catalogue (`docs/errors.md`), says what
 * happened in `message`, and keeps its cause.
 */
export class PodwireError extends Error {
  readonly code: ErrorCode;
  readonly details: ErrorDetails;
  readonly #action: string | null | undefined;

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'PodwireError';
    this.code = code;
    this.details = options.details ?? {};
    this.#action = options.action;
  }

  /** Advice of this error, or else of its code. Undefined when the message leaves nothing to add. */
  get action(): string | undefined {
    if (this.#action === null) return undefined;
    const { action }: CatalogueEntry = errorCatalogue[this.code];
    return this.#action ?? action;
  }
}

/** Deeper chains are cut: causes may form a cycle. */
const deepestCause = 8;

/**
 * The message of anything that was thrown, with its causes: `a: b: c`. A cause whose words a message has already is not said again:
 * on the way through plugin, runtime and pod agent each layer hands on a text, and the error that it is of. Never throws.
 */
export function describeError(error: unknown): string {
  return describe(error, deepestCause);
}

function describe(error: unknown, depth: number): string {
  if (!(error instanceof Error)) return describeValue(error);
  if (depth === 0) return '…';
  const inner = error instanceof AggregateError ? error.errors : [];
  const parts = [
    error.message,
    inner.map((each) => describe(each, depth - 1)).join('; '),
    error.cause === undefined ? '' : describe(error.cause, depth - 1),
  ].filter((part, index) => part !== '' && (index === 0 || !hasSaid(error.message, part)));
  return parts.length === 0 ? error.name : parts.join(': ');
}

/** As words of their own: `e` is in `remove`, and was not said by it. */
function hasSaid(message: string, part: string): boolean {
  const at = message.indexOf(part);
  if (at < 0) return false;
  return !/\w/.test(message[at - 1] ?? '') && !/\w/.test(message[at + part.length] ?? '');
}

function describeValue(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  try {
    return JSON.stringify(value);
  } catch {
    return Object.prototype.toString.call(value);
  }
}
