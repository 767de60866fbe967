import type { MessageLimits } from './json-stream.js';

export interface Limits extends MessageLimits {
  /** Requests without an answer. */
  readonly pending: number;
  /** Bytes that the server has not taken yet. */
  readonly unsent: number;
}

/** A database of a large cluster comes in one message; values of a column are nested six deep. */
export const defaultLimits: Limits = {
  bytes: 256 * 1024 * 1024,
  depth: 32,
  pending: 10_000,
  unsent: 64 * 1024 * 1024,
};
