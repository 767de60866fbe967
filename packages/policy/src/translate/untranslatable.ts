/** Why an object cannot be said in the normal form. Caught where objects are translated; it becomes a broken policy. */
export class Untranslatable extends Error {
  readonly field: string;

  constructor(field: string, message: string) {
    super(message);
    this.field = field;
  }
}
