/** The lifecycle of nodes: ready, unreachable, released. Every write is conditional on the observation and the leadership. */
import { type Stored, type UnreachableNode, unreachableKind } from '@podwire/cluster-state';
import { type ClusterAccess, commit, releaseNode } from '@podwire/cluster-ipam/operations';
import { PodwireError } from '@podwire/errors';
import type { Log } from '@podwire/platform';
import { type Condition, encodeObject } from '@podwire/store';
import { evaluateNode, type NodeObservation } from './evaluate-node.js';
import type { Counters } from './metrics.js';

export interface NodeLifecycleOptions {
  /** With the leader's fence as guard. */
  readonly access: ClusterAccess;
  readonly log: Log;
  /** Milliseconds; a node whose object says more has more. */
  readonly evictionTimeout: number;
  readonly counters: Counters;
}

/** How this leader counts the time of one unreachable node. */
interface Count {
  /** Identifies the outage: the next one has another time. */
  readonly since: number;
  /** The time that earlier leaders have counted. */
  readonly base: number;
  /** Start of this leader's count, on the monotonic clock. */
  readonly from: number;
}

/** A leader that dies loses at most this part of the eviction timeout. */
const savesPerTimeout = 24;

export class NodeLifecycle {
  readonly #options: NodeLifecycleOptions;
  readonly #counts = new Map<string, Count>();

  constructor(options: NodeLifecycleOptions) {
    this.#options = options;
  }

  /** How many nodes are unreachable now. */
  get unreachable(): number {
    return this.#counts.size;
  }

  /**
   * Does what is due for the node.
   * @returns milliseconds until the next evaluation; undefined: at the next change
   * @throws as the store does
   */
  async sync(name: string, observation: NodeObservation, signal: AbortSignal): Promise<number | undefined> {
    const { unreachable } = observation;
    if (unreachable === undefined) this.#counts.delete(name);
    const observed = unreachable === undefined ? 0 : this.#observedTime(name, unreachable);
    const evictionTimeout = this.#timeoutOf(observation);
    const saveEvery = evictionTimeout / savesPerTimeout;
    const now = this.#options.access.clock.now();
    const decision = evaluateNode(observation, { now, observed, evictionTimeout, saveEvery });
    switch (decision.act) {
      case 'nothing':
        return undefined;
      case 'wait':
        return decision.milliseconds;
      case 'mark-unreachable':
      case 'save-time':
        return void (await this.#markUnreachable(name, observation, observed, signal));
      case 'mark-reachable':
        return void (await this.#markReachable(name, observation, signal));
      case 'release':
        return void (await this.#release(name, unreachable!, signal));
    }
  }

  /** Never less than the node itself counts on: it may still allocate from its blocks. */
  #timeoutOf({ node }: NodeObservation): number {
    return Math.max(this.#options.evictionTimeout, node?.value.vanishAfter ?? 0);
  }

  #observedTime(name: string, { value }: Stored<UnreachableNode>): number {
    const { clock } = this.#options.access;
    const known = this.#counts.get(name);
    const count =
      known?.since === value.since
        ? known
        : { since: value.since, base: value.observed ?? 0, from: clock.elapsed() };
    this.#counts.set(name, count);
    return count.base + (clock.elapsed() - count.from);
  }

  async #markUnreachable(
    name: string,
    observation: NodeObservation,
    observed: number,
    signal: AbortSignal,
  ): Promise<void> {
    const { access, log, counters } = this.#options;
    const { clock, keys } = access;
    const before = observation.unreachable?.value;
    const now = clock.now();
    const record: UnreachableNode = {
      node: name,
      instance: before?.instance ?? observation.node?.value.instance ?? 'unknown',
      since: Math.min(before?.since ?? now, now),
      observed,
    };
    const value = encodeObject(unreachableKind, record);
    const writes = [{ op: 'put', key: keys.unreachable(name), value } as const];
    const conditions = this.#conditionsOf(name, observation);
    if ((await commit(access, { conditions, writes }, signal)) === undefined) return;
    this.#counts.set(name, { since: record.since, base: observed, from: clock.elapsed() });
    if (before !== undefined) return;
    counters.unreachable++;
    const fields = { node: name, evictionTimeout: this.#timeoutOf(observation) };
    log.warn(fields, 'a node is unreachable; its pods may still run');
  }

  async #markReachable(name: string, observation: NodeObservation, signal: AbortSignal): Promise<void> {
    const { access, log, counters } = this.#options;
    const writes = [{ op: 'delete', key: access.keys.unreachable(name) } as const];
    const conditions = this.#conditionsOf(name, observation);
    if ((await commit(access, { conditions, writes }, signal)) === undefined) return;
    if (observation.lease === undefined) return;
    counters.returns++;
    log.info({ node: name }, 'a node is back');
  }

  async #release(name: string, unreachable: Stored<UnreachableNode>, signal: AbortSignal): Promise<void> {
    const { access, log, counters } = this.#options;
    try {
      const { blocks, loans, addresses } = await releaseNode(access, name, { unreachable }, signal);
      counters.released++;
      counters.releasedBlocks += blocks.length;
      log.warn(
        { node: name, since: unreachable.value.since, blocks, loans, addresses },
        'the eviction timeout of a node is over; its blocks and borrowed addresses are released',
      );
    } catch (error) {
      const isBack = error instanceof PodwireError && ['NODE_ALIVE', 'NODE_UNKNOWN'].includes(error.code);
      if (!isBack) throw error;
      log.info({ node: name, err: error }, 'a node is not released, since it is back or gone');
    }
  }

  #conditionsOf(name: string, { node, lease, unreachable }: NodeObservation): Condition[] {
    const { keys } = this.#options.access;
    return [
      { key: keys.node(name), expect: node?.revision ?? 'absent' },
      { key: keys.nodeLease(name), expect: lease?.revision ?? 'absent' },
      { key: keys.unreachable(name), expect: unreachable?.revision ?? 'absent' },
    ];
  }
}
