import { errorCode, type ErrorName } from '../error-codes.js';
import { DecodeError } from '../errors.js';
import type { Message } from '../message.js';

/** A request that the switch refuses. */
export class Refusal extends Error {
  readonly refusal: ErrorName;

  constructor(refusal: ErrorName, message: string) {
    super(message);
    this.name = 'Refusal';
    this.refusal = refusal;
  }
}

export function refuseUnless(isFine: boolean, refusal: ErrorName, message: string): void {
  if (!isFine) throw new Refusal(refusal, message);
}

/** An error has the beginning of the request that it answers; 7.5.4. */
const QUOTED = 64;

/** The message for an error of a handler. @throws any other error */
export function refusalMessage(error: unknown, request: Buffer): Message {
  if (!(error instanceof Refusal) && !(error instanceof DecodeError)) throw error;
  return { type: 'error', error: errorCode(error.refusal), data: request.subarray(0, QUOTED) };
}
