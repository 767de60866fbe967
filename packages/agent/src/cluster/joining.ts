/** Joins the cluster: until the node knows what it may allocate, from the store or from its saved state. */
import type { ClusterCache } from '@podwire/cluster-state';
import type { SavedStateStore, NodeAddressing } from '@podwire/cluster-ipam';
import { endpointKey } from '@podwire/network-contract';
import { describeError, PodwireError } from '@podwire/errors';
import { type Clock, Notify, orAborted, withDeadline } from '@podwire/platform';
import { asPodwireError } from '../errors.js';
import type { Log } from '../log.js';
import type { HostView } from '../node/host-view.js';
import type { FollowingParts } from './contract.js';
import type { ClusterFollower } from './follower.js';
import type { Registration } from './registration.js';
import { tunnelOwners } from './tunnel.js';

export interface JoiningOptions {
  readonly follower: ClusterFollower;
  readonly readHost: () => HostView;
  readonly registration: Registration;
  readonly cache: ClusterCache;
  readonly addressing: NodeAddressing;
  readonly savedState: SavedStateStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly stopped: AbortSignal;
  /** Called once, before anything is allocated. */
  readonly onKnown: (parts: FollowingParts) => void;
}

/**
 * Milliseconds for the store to tell whose the name is, and again for the cluster cache. A node with saved state must not wait long
 * for a store that hangs.
 */
const waits = { withSavedState: 1_000, without: 5_000 } as const;
/** Milliseconds between attempts. */
const retryAfter = 1_000;

export class Joining {
  readonly #options: JoiningOptions;
  #obstacle: PodwireError | undefined = new PodwireError(
    'AGENT_NOT_READY',
    'the agent is joining its cluster',
  );

  constructor(options: JoiningOptions) {
    this.#options = options;
  }

  /** Why the node may not allocate yet; undefined once it may. */
  get obstacle(): PodwireError | undefined {
    return this.#obstacle;
  }

  /** Resolves with the first outcome, and continues in the background after a failure. Never rejects. */
  async run(parts: FollowingParts): Promise<void> {
    if (!(await this.#attempt(parts))) void this.#retry(parts);
  }

  async #attempt(parts: FollowingParts): Promise<boolean> {
    const { follower, cache, log, stopped } = this.#options;
    try {
      await this.#join(parts);
      this.#obstacle = undefined;
      log.info({ instance: follower.identity.instance, connected: cache.connected }, 'joined the cluster');
      return true;
    } catch (error) {
      if (stopped.aborted) return true;
      this.#note(asPodwireError(error));
      parts.readiness.problem = describeError(error);
      return false;
    }
  }

  /** @throws what prevents the node from knowing what it may allocate */
  async #join(parts: FollowingParts): Promise<void> {
    const { follower, registration, cache, addressing, savedState, stopped, onKnown, readHost } =
      this.#options;
    follower.discoverUnderlay(readHost());
    const hasSavedState = savedState.read() !== undefined;
    const wait = hasSavedState ? waits.withSavedState : waits.without;
    // Whose the name is comes first: blocks of another agent must not be taken for this node's.
    await this.#waitFor(registration.settled, wait);
    const { state } = registration;
    if (state.kind === 'taken') throw state.error;
    if (state.kind === 'registered') await this.#waitFor(cache.synced, wait);
    if (!cache.connected && !hasSavedState) throw this.#nothingKnown();
    await addressing.start(this.#inUse(parts), stopped);
    follower.resume(parts);
    onKnown(parts);
  }

  /** Waits for the event, but not for long. @throws when the agent stops */
  async #waitFor(event: Promise<void>, milliseconds: number): Promise<void> {
    const { stopped } = this.#options;
    await withDeadline(stopped, milliseconds, (signal) => orAborted(event, signal)).catch(() => undefined);
    stopped.throwIfAborted();
  }

  #nothingKnown(): PodwireError {
    const { state } = this.#options.registration;
    const why = state.kind === 'away' ? describeCoded(state.error) : 'it does not answer';
    const message = `the store is away (${why}), and this node has no saved state to allocate from`;
    return new PodwireError('AGENT_NOT_READY', message);
  }

  #inUse({ endpoints }: FollowingParts): { address: string; owner: string }[] {
    const { tunnel } = this.#options.follower.identity;
    const ofPods = endpoints
      .all()
      .flatMap(({ id, leases }) => leases.map(({ address }) => ({ address, owner: endpointKey(id) })));
    const ofTunnel = ([4, 6] as const).flatMap((family) => {
      const address = tunnel[family === 4 ? 'ipv4' : 'ipv6'];
      return address === undefined ? [] : [{ address, owner: tunnelOwners[family] }];
    });
    return [...ofPods, ...ofTunnel];
  }

  /** Each obstacle is logged once, although every change in the cluster is a new attempt. */
  #note(error: PodwireError): void {
    if (this.#obstacle?.message !== error.message)
      this.#options.log.warn({ err: error }, 'the node has not joined its cluster yet');
    this.#obstacle = error;
  }

  async #retry(parts: FollowingParts): Promise<void> {
    const { registration, cache, clock, stopped } = this.#options;
    const changed = new Notify();
    const ends = [registration.onChange(changed.notify), cache.onChange(changed.notify)];
    do await changed.notifiedWithin(retryAfter, clock, stopped);
    while (!stopped.aborted && !(await this.#attempt(parts)));
    for (const end of ends) end();
    if (!stopped.aborted) parts.loop.nudge();
  }
}

/** With its code: whether the store is down or refuses us is not to be guessed from words. */
const describeCoded = (error: unknown): string =>
  error instanceof PodwireError ? `${error.code}: ${error.message}` : describeError(error);
