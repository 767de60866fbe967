/** Errors as Go's library of CNI prints them, on standard output. As failure.c. */
import { toJson } from './json.js';
import { tryWrite } from './streams.js';

/** Ends a plugin, with an error code of CNI. */
export class Failure extends Error {
  readonly code: number;
  readonly details: string | undefined;
  constructor(code: number, message: string, details?: string) {
    super(message);
    this.code = code;
    this.details = details;
  }
}

/** Prints what a plugin returns, or its error; one that is no Failure has this code. */
export function printOutcome(work: Promise<string>, code: number): void {
  work.then(
    (text) => tryWrite(1, Buffer.from(text)),
    (error: unknown) => {
      process.exitCode = 1;
      tryWrite(1, Buffer.from(describe(error instanceof Failure ? error : new Failure(code, String(error)))));
    },
  );
}

const describe = ({ code, message: msg, details }: Failure): string =>
  toJson({ code, msg, ...(details === undefined ? {} : { details }) }, 4);
