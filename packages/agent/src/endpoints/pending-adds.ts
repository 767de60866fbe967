/**
 * ADDs that wait for the cluster. They hold no lock meanwhile, so a DEL or GC finds nothing of their endpoint but an entry here.
 * A runtime sends no DEL for a container that it is adding, and no GC meanwhile (CNI specification 1.1.0, section 2), unless it
 * has given the ADD up; then nothing of the endpoint may be left. So DEL and GC end such an ADD without waiting for it, and it must
 * not wire anything afterwards. An ADD that arrives later is another one.
 */
import { PodwireError } from '@podwire/errors';
import { type EndpointId, endpointKey } from '@podwire/network-contract';

/** One ADD, from its first need until it ends. */
export interface PendingAdd {
  /** Fires with the ADD's own signal, and when the ADD is ended by a DEL, a GC or the end of the agent. */
  readonly signal: AbortSignal;
  /** True when it was ended because its endpoint was removed. */
  readonly isRemoved: boolean;
  end(): void;
}

interface Entry {
  readonly id: EndpointId;
  readonly ended: AbortController;
  /** Held here, because Node holds a signal made of others only by its listeners. */
  readonly either: AbortSignal;
  isRemoved: boolean;
}

export class PendingAdds {
  readonly #entries = new Set<Entry>();
  #isStopped = false;

  /** To be called while the endpoint is locked: the next holder of the lock must find the ADD. */
  begin(id: EndpointId, signal: AbortSignal): PendingAdd {
    const ended = new AbortController();
    const entry: Entry = { id, ended, either: AbortSignal.any([signal, ended.signal]), isRemoved: false };
    this.#entries.add(entry);
    if (this.#isStopped) stopEntry(entry);
    return {
      signal: entry.either,
      get isRemoved() {
        return entry.isRemoved;
      },
      end: () => void this.#entries.delete(entry),
    };
  }

  /** Ends the ADDs of endpoints that are removed now. To be called while these are locked: none of the ADDs is wiring then. */
  noteRemoved(isRemoved: (id: EndpointId) => boolean): void {
    for (const entry of this.#entries) {
      if (!isRemoved(entry.id)) continue;
      entry.isRemoved = true;
      entry.ended.abort(removedMeanwhile(entry.id));
    }
  }

  /** Ends all of them, and later ones at once: the agent stops. */
  stop(): void {
    this.#isStopped = true;
    this.#entries.forEach(stopEntry);
  }
}

const stopEntry = ({ ended }: Entry): void =>
  ended.abort(new PodwireError('AGENT_NOT_READY', 'the agent is stopping'));

/** By its code (3) a runtime knows that there is nothing to clean up. */
function removedMeanwhile(id: EndpointId): PodwireError {
  const message = `${endpointKey(id)} was removed while its ADD waited for the cluster`;
  return new PodwireError('ENDPOINT_UNKNOWN', message);
}
