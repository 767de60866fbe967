/** Status codes of gRPC that the Container Runtime Interface uses; numbers as on the wire. */
export const criCodes = {
  CANCELLED: 1,
  UNKNOWN: 2,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  ABORTED: 10,
  OUT_OF_RANGE: 11,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  UNAUTHENTICATED: 16,
} as const;

export type CriCode = keyof typeof criCodes;

/** An error of a runtime; the server turns it into a gRPC status. */
export class CriError extends Error {
  readonly code: CriCode;

  constructor(code: CriCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'CriError';
    this.code = code;
  }
}

export function isCriError(error: unknown, ...codes: readonly CriCode[]): error is CriError {
  return error instanceof CriError && (codes.length === 0 || codes.includes(error.code));
}
