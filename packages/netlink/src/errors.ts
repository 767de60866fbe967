import { getSystemErrorMap } from 'node:util';
import type { NetlinkFailure } from './connection.js';

/** Base of everything this library throws, except RangeError and TypeError for arguments that cannot be encoded. */
export class NetlinkError extends Error {
  /** The errno's name (`EEXIST`), or for failures of the exchange itself one of the library's own. */
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.name = 'NetlinkError';
    this.code = code;
  }
}

/** Requests were refused by the kernel; all others of the batch were carried out. `code` is the first failure's. */
export class NetlinkBatchError extends NetlinkError {
  readonly failures: readonly NetlinkFailure[];

  constructor(failures: readonly NetlinkFailure[], answerer = 'RTNETLINK') {
    const text = failures.map((failure) => describeFailure(failure, answerer)).join('; ');
    super(failures[0]?.code ?? 'EIO', text);
    this.name = 'NetlinkBatchError';
    this.failures = failures;
  }
}

/** The bytes are not what the protocol says they must be. */
export class DecodeError extends NetlinkError {
  constructor(message: string) {
    super('EBADMSG', message);
    this.name = 'DecodeError';
  }
}

/** `create link cali0: EEXIST (RTNETLINK answers: file already exists)` */
export function describeFailure(failure: NetlinkFailure, answerer = 'RTNETLINK'): string {
  const text = failure.kernelMessage ?? getSystemErrorMap().get(-failure.errno)?.[1];
  const answer = text === undefined ? '' : ` (${answerer} answers: ${text})`;
  return `${failure.label}: ${failure.code}${answer}`;
}
