/** An operation fails, as the real server says it. */
export class Failure extends Error {
  readonly error: string;

  constructor(error: string, details: string) {
    super(details);
    this.name = 'Failure';
    this.error = error;
  }

  toJson(): { readonly error: string; readonly details: string } {
    return { error: this.error, details: this.message };
  }
}

export const syntaxError = (details: string): Failure => new Failure('syntax error', details);
export const constraintViolation = (details: string): Failure => new Failure('constraint violation', details);
