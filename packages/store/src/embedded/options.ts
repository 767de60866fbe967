import type { Store } from '../contract.js';
import type { OpenOptions } from '../contract.js';

export interface EmbeddedOptions extends OpenOptions {
  /** Transactions that watches can look back to; 10,000 when absent. */
  readonly history?: number;
  /** Of all keys and values together; 256 MiB when absent. More is STORE_FULL; deleting always works. */
  readonly maxBytes?: number;
  /** Milliseconds, for leases: a clock that all processes of the machine share and nobody sets. The kernel's when absent. */
  readonly now?: () => number;
  /** What is another after each start of the machine. The kernel's boot id when absent. */
  readonly boot?: string;
}

export interface EmbeddedStore extends Store {
  /** Forgets the past: watches that come back from it begin with a snapshot. */
  compact(): Promise<void>;
}
