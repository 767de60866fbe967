/** Until it is known what this node may hand out: from the store, or from what an earlier life has left. */
import type { ClusterCache } from '@podwire/cluster-state';
import type { SavedStateStore, NodeAddressing } from '@podwire/cluster-ipam';
import { endpointKey } from '@podwire/network-contract';
import { describeError, PodwireError } from '@podwire/errors';
import { type Clock, orAborted, withDeadline } from '@podwire/platform';
import { asPodwireError } from '../errors.js';
import type { Log } from '../log.js';
import type { FollowingParts } from './contract.js';
import type { Follower } from './follower.js';
import type { Registration } from './registration.js';
import { tunnelOwners } from './tunnel.js';

export interface JoiningOptions {
  readonly follower: Follower;
  readonly registration: Registration;
  readonly cache: ClusterCache;
  readonly addressing: NodeAddressing;
  readonly savedState: SavedStateStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly stopped: AbortSignal;
  /** It is known; called once, before anything is allocated. */
  readonly onKnown: (parts: FollowingParts) => void;
}

export interface Joining {
  /** Why nothing can be handed out yet; undefined once it can. */
  readonly obstacle: PodwireError | undefined;
  /** Resolves with the first outcome, and goes on in the background when that was none. Never rejects. */
  run(parts: FollowingParts): Promise<void>;
}

/**
 * Milliseconds for the store to say whose the name is, and again for the cache of the cluster. A store that hangs must not keep a node
 * waiting that can go on with what it has.
 */
const waits = { withSavedState: 1_000, without: 5_000 } as const;
/** Milliseconds between attempts. */
const pause = 1_000;

export function createJoining(options: JoiningOptions): Joining {
  const { follower, registration, cache, addressing, savedState, clock, log, stopped, onKnown } = options;
  let obstacle: PodwireError | undefined = new PodwireError(
    'AGENT_NOT_READY',
    'the agent is joining its cluster',
  );

  /** @throws what keeps the node from knowing what it may hand out */
  async function learn(parts: FollowingParts): Promise<void> {
    follower.discoverUnderlay();
    const hasSavedState = savedState.read() !== undefined;
    const wait = hasSavedState ? waits.withSavedState : waits.without;
    // Another agent's blocks must not be taken for ours, so who has the name comes first.
    await within(wait, registration.settled);
    const { standing } = registration;
    if (standing.kind === 'taken') throw standing.error;
    if (standing.kind === 'registered') await within(wait, cache.synced);
    if (!cache.connected && !hasSavedState) throw nothingKnown();
    await addressing.start(inUse(parts), stopped);
    follower.pickUp(parts);
    onKnown(parts);
  }

  /** Waits, but not for ever, and not for a particular end. @throws when the agent stops */
  async function within(milliseconds: number, event: Promise<void>): Promise<void> {
    await withDeadline(stopped, milliseconds, (signal) => orAborted(event, signal)).catch(() => undefined);
    stopped.throwIfAborted();
  }

  function nothingKnown(): PodwireError {
    const { standing } = registration;
    const why = standing.kind === 'away' ? describeCoded(standing.error) : 'it does not answer';
    const message = `the store is away (${why}), and this node has nothing of an earlier life to hand out`;
    return new PodwireError('AGENT_NOT_READY', message);
  }

  const inUse = ({ endpoints }: FollowingParts): { address: string; owner: string }[] => [
    ...endpoints
      .all()
      .flatMap(({ id, leases }) => leases.map(({ address }) => ({ address, owner: endpointKey(id) }))),
    ...([4, 6] as const).flatMap((family) => {
      const address = follower.identity.tunnel[family === 4 ? 'ipv4' : 'ipv6'];
      return address === undefined ? [] : [{ address, owner: tunnelOwners[family] }];
    }),
  ];

  async function attempt(parts: FollowingParts): Promise<boolean> {
    try {
      await learn(parts);
      obstacle = undefined;
      log.info({ instance: follower.identity.instance, connected: cache.connected }, 'joined the cluster');
      return true;
    } catch (error) {
      if (stopped.aborted) return true;
      note(asPodwireError(error));
      parts.readiness.problem = describeError(error);
      return false;
    }
  }

  /** It is tried with every change in the cluster, and said once. */
  function note(error: PodwireError): void {
    if (obstacle?.message !== error.message)
      log.warn({ err: error }, 'the node has not joined its cluster yet');
    obstacle = error;
  }

  async function goOn(parts: FollowingParts): Promise<void> {
    do {
      await nextChange();
      if (stopped.aborted) return;
    } while (!(await attempt(parts)));
    parts.loop.nudge();
  }

  /** Until the store says something, or a while. */
  async function nextChange(): Promise<void> {
    const awake = new AbortController();
    const wake = (): void => awake.abort();
    const ends = [registration.onChange(wake), cache.onChange(wake)];
    stopped.addEventListener('abort', wake, { once: true });
    await clock.sleep(pause, awake.signal).catch(() => undefined);
    stopped.removeEventListener('abort', wake);
    for (const end of ends) end();
  }

  return {
    get obstacle() {
      return obstacle;
    },
    async run(parts) {
      if (await attempt(parts)) return;
      void goOn(parts);
    },
  };
}

/** With its code: whether the store is down or refuses us is not to be guessed from words. */
const describeCoded = (error: unknown): string =>
  error instanceof PodwireError ? `${error.code}: ${error.message}` : describeError(error);
