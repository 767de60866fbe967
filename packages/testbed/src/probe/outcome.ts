/** What came of a question. */
export interface Outcome {
  readonly ok: boolean;
  /** Bytes that went and came back. */
  readonly bytes?: number;
  /** Whom the other end saw. */
  readonly seen?: string;
  /** What is wrong, or of a question to nobody what happened instead of an answer, in words. */
  readonly words?: string;
}
