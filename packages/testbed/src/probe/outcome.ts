/** Outcome of a probe. */
export interface Outcome {
  readonly ok: boolean;
  /** Bytes of payload, each way. */
  readonly bytes?: number;
  /** Source address that the other end saw. */
  readonly seen?: string;
  /** Why it failed; of a probe to an unused address, what happened to the packet. */
  readonly words?: string;
  /** The verdict of policy; absent where it was not asked. */
  readonly expected?: 'allow' | 'deny';
  /** Which rule says so; absent where none decides. */
  readonly by?: string;
}
