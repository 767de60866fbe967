/** An error response of Docker Engine. */
export class DockerError extends Error {
  /** HTTP status; 0 where the answer was cut off or could not be read. */
  readonly status: number;

  constructor(status: number, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'DockerError';
    this.status = status;
  }
}

/** Nothing listens on the socket. */
export class DockerUnreachableError extends DockerError {
  constructor(socket: string, cause: unknown) {
    super(
      0,
      `Docker Engine does not answer at ${socket}: ${cause instanceof Error ? cause.message : String(cause)}`,
      {
        cause,
      },
    );
    this.name = 'DockerUnreachableError';
  }
}

/** A call took longer than it may. */
export class DockerTimeoutError extends DockerError {
  constructor(call: string, milliseconds: number) {
    super(0, `${call}: no answer after ${milliseconds} ms`);
    this.name = 'DockerTimeoutError';
  }
}

export function isNotFound(error: unknown): boolean {
  return error instanceof DockerError && error.status === 404;
}

export function isConflict(error: unknown): boolean {
  return error instanceof DockerError && error.status === 409;
}

/** Stops and starts of what is so already are answered with 304. */
export function isUnchanged(error: unknown): boolean {
  return error instanceof DockerError && error.status === 304;
}
