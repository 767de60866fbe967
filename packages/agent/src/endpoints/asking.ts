/**
 * ADDs that ask the cluster. They hold no lock while they do, so whoever removes their endpoint meanwhile finds nothing of it
 * but this. A runtime does not DEL what it is adding, and makes no GC meanwhile (CNI specification 1.1.0, section 2),
 * unless it has given the ADD up; then nothing of the endpoint may be left. So DEL and GC end such an ADD, and do not
 * wait for it: it must not come back to life behind them. An ADD that arrives later than they is another one.
 */
import { type EndpointId, endpointKey } from '@podwire/network-contract';
import { PodwireError } from '@podwire/errors';

export interface AskingAdds {
  /** To be called while the endpoint is held: whoever is the next to hold it must find the ADD. */
  begin(id: EndpointId, signal: AbortSignal): Asking;
  /** Ends the ADDs of endpoints that are removed now. To be called while these are held: none of the ADDs is wiring then. */
  noteRemoved(isRemoved: (id: EndpointId) => boolean): void;
  /** Ends all, and those to come: the agent stops. */
  stop(): void;
}

/** One ADD, from its first question until it ends. */
export interface Asking {
  /** Fires with the ADD's own signal, and when the ADD is ended by somebody else. */
  readonly signal: AbortSignal;
  /** Whether it was ended because its endpoint was removed. */
  readonly isRemoved: boolean;
  end(): void;
}

interface Entry {
  readonly id: EndpointId;
  readonly ended: AbortController;
  /** Node holds a signal made of others only by its listeners. */
  readonly either: AbortSignal;
  isRemoved: boolean;
}

export function createAskingAdds(): AskingAdds {
  const asking = new Set<Entry>();
  let isStopped = false;
  const stop = ({ ended }: Entry): void =>
    ended.abort(new PodwireError('AGENT_NOT_READY', 'the agent is stopping'));
  return {
    begin(id, signal) {
      const ended = new AbortController();
      const either = AbortSignal.any([signal, ended.signal]);
      const entry: Entry = { id, ended, either, isRemoved: false };
      asking.add(entry);
      if (isStopped) stop(entry);
      return {
        signal: either,
        get isRemoved() {
          return entry.isRemoved;
        },
        end: () => void asking.delete(entry),
      };
    },
    noteRemoved(isRemoved) {
      for (const entry of asking) {
        if (!isRemoved(entry.id)) continue;
        entry.isRemoved = true;
        entry.ended.abort(removedMeanwhile(entry.id));
      }
    },
    stop() {
      isStopped = true;
      asking.forEach(stop);
    },
  };
}

/** By its code (3) a runtime knows that there is nothing to clean up. */
function removedMeanwhile(id: EndpointId): PodwireError {
  const message = `${endpointKey(id)} was removed while its ADD waited for the cluster`;
  return new PodwireError('ENDPOINT_UNKNOWN', message);
}
