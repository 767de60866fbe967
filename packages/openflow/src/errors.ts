import type { ErrorName } from './error-codes.js';

/** Base of everything this library throws, except TypeError and RangeError for data that cannot be encoded. */
export class OpenFlowError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.name = 'OpenFlowError';
    this.code = code;
  }
}

/** Received bytes are not what the protocol says they must be. */
export class DecodeError extends OpenFlowError {
  /** The answer of a switch to a request of these bytes. */
  readonly refusal: ErrorName;

  constructor(message: string, refusal: ErrorName = 'OFPBRC_BAD_LEN') {
    super('EBADMSG', message);
    this.name = 'DecodeError';
    this.refusal = refusal;
  }
}
