/** An error as people and programs see it; under `error` it is what an API and `-o json` give. */
export interface Failure {
  /** A name of docs/errors.md; `CNI_7` for one of the CNI specification's own. */
  readonly code: string;
  readonly message: string;
  /** Advice for the user. */
  readonly action?: string;
  readonly details?: unknown;
}

/** An error that a server answered with. Its code may be newer than this program. */
export class ApiError extends Error {
  readonly failure: Failure;
  /** HTTP */
  readonly status: number;

  constructor(failure: Failure, status: number) {
    super(failure.message);
    this.name = 'ApiError';
    this.failure = failure;
    this.status = status;
  }
}
