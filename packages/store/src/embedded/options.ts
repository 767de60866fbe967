import type { Store } from '../contract.js';
import type { OpenOptions } from '../contract.js';

export interface EmbeddedOptions extends OpenOptions {
  /** Transactions after which a watch can resume; 10,000 by default. */
  readonly history?: number;
  /** Of all keys and values together; 256 MiB when absent. More is STORE_FULL; deleting always works. */
  readonly maxBytes?: number;
  /** Milliseconds, for leases: a clock that all processes of the machine share and that cannot be set. The kernel's by default. */
  readonly now?: () => number;
  /** Differs after each reboot. The kernel's boot id by default. */
  readonly boot?: string;
}

export interface EmbeddedStore extends Store {
  /** Forgets the past: watches that come back from it begin with a snapshot. */
  compact(): Promise<void>;
}
