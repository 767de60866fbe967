/** How a handler of the fake kernel refuses a request. `text` is what the extended ack says. */
export class FakeErrno extends Error {
  readonly code: string;
  readonly text: string | undefined;

  constructor(code: string, text?: string) {
    super(text ?? code);
    this.name = 'FakeErrno';
    this.code = code;
    this.text = text;
  }
}
