import type { FlowSelector } from '../flow.js';
import type { MeterMod } from '../group.js';
import type { Change, DumpKind, Dumps } from '../message.js';
import type { Features, PacketOut, SwitchEvent } from '../port-description.js';

export interface RequestOptions {
  readonly signal?: AbortSignal;
  /** milliseconds; those of the connection when absent */
  readonly timeout?: number;
}

export interface BundleOptions extends RequestOptions {
  /**
   * Runs while the switch takes the changes, so that a look at it costs no time of its own. They are made when it resolves,
   * and discarded when it throws.
   */
  readonly guard?: () => Promise<void>;
  /**
   * Sends the commit along, which saves a round trip, where there is no guard. A change that is refused when it is sent is
   * missing then: the others are made, and the error names it. For changes that no switch refuses, as when flows are deleted.
   */
  readonly eager?: boolean;
  /** Called when all but the commit of a bundle that is not eager is on its way: whatever is done then comes to the switch later. */
  readonly onSent?: () => void;
}

/** A switch that answers. Requests may be sent while others are under way; the switch carries them out in order. */
export interface SwitchConnection {
  readonly features: Features;
  /**
   * Makes all changes or none, in order, at one moment for packets.
   * @throws SwitchError naming the changes that were refused; OpenFlowError `ETIMEDOUT`, after which the outcome is unknown;
   *   the error of the guard
   */
  applyBundle(changes: readonly Change[], options?: BundleOptions): Promise<void>;
  /** Carries out each request on its own, in order, also after one has failed. @throws SwitchError */
  send(requests: readonly (Change | MeterMod | PacketOut)[], options?: RequestOptions): Promise<void>;
  /**
   * A list that the switch keeps; `selector` is for `flow`. Of several selectors the entries of each follow those of the one
   * before, for one round trip. @throws SwitchError
   */
  dump<Kind extends DumpKind>(
    kind: Kind,
    selector?: Kind extends 'flow' ? FlowSelector | readonly FlowSelector[] : undefined,
    options?: RequestOptions,
  ): Promise<Dumps[Kind][]>;
  /** Waits until everything that was sent before is done. */
  barrier(options?: RequestOptions): Promise<void>;
  /**
   * Events of the switch, from when this resolves on; one call replaces the choice of the one before. Ends
   * with the connection, with its error.
   */
  watch(types: readonly SwitchEvent['type'][], options?: RequestOptions): Promise<AsyncIterable<SwitchEvent>>;
  /** Resolves when the connection has ended, with the reason if it is not {@link close}. */
  readonly closed: Promise<Error | undefined>;
  close(): void;
}
