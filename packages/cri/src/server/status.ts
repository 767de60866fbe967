import { criCodes, isCriError } from '../error.js';

export interface GrpcStatus {
  readonly code: number;
  readonly details: string;
}

/** The status travels in a header, and clients refuse headers that are too long. */
const maxDetails = 4096;

/** The status for an error of the runtime: a CriError's own code, UNKNOWN for everything else. */
export function toStatus(error: unknown): GrpcStatus {
  const message = error instanceof Error ? error.message : String(error);
  const details = message.length > maxDetails ? `${message.slice(0, maxDetails)}…` : message;
  return { code: isCriError(error) ? criCodes[error.code] : criCodes.UNKNOWN, details };
}
