/** The life of nodes: present, unreachable, vanished. Every write depends on what was seen, and on the leadership. */
import { type UnreachableNode, unreachableKind, type Stored } from '@podwire/cluster-state';
import { type ClusterAccess, releaseNode } from '@podwire/cluster-ipam/operations';
import { PodwireError } from '@podwire/errors';
import type { Log } from '@podwire/platform';
import { type Condition, encodeObject, type Transaction } from '@podwire/store';
import { evaluateNode, type Sight } from './judge.js';
import type { Counters } from './metrics.js';

export interface LifeCycleOptions {
  /** With the leader's fence as guard. */
  readonly access: ClusterAccess;
  readonly log: Log;
  /** At least; a node that counts on more time than that has it. */
  readonly vanishAfter: number;
  readonly counters: Counters;
}

export interface LifeCycle {
  /**
   * Does what is due. @returns milliseconds after which it must be looked at again; undefined: with the next change
   * @throws as the store does
   */
  attend(name: string, sight: Sight, signal: AbortSignal): Promise<number | undefined>;
  /** Nodes that are absent now. */
  readonly absent: number;
}

/** How this leader counts one absence. */
interface Count {
  /** Identifies the absence: one that begins anew has another. */
  readonly since: number;
  /** What earlier leaders have counted. */
  readonly base: number;
  /** By the monotonic clock. */
  readonly from: number;
}

/** A leader that dies takes with it what it has counted since it noted it: so many parts of `vanishAfter`. */
const notesPerVanishing = 24;

export function createLifeCycle({ access, log, vanishAfter, counters }: LifeCycleOptions): LifeCycle {
  const { keys, clock } = access;
  const counts = new Map<string, Count>();

  /** Never less than the node itself counts on: its blocks would be another's while it hands them out. */
  const patienceWith = ({ node }: Sight): number => Math.max(vanishAfter, node?.value.vanishAfter ?? 0);

  /** Milliseconds of the absence so far. */
  function observe(name: string, { value }: Stored<UnreachableNode>): number {
    const known = counts.get(name);
    const count =
      known?.since === value.since
        ? known
        : { since: value.since, base: value.observed ?? 0, from: clock.elapsed() };
    counts.set(name, count);
    return count.base + (clock.elapsed() - count.from);
  }

  const write = async (transaction: Transaction, signal: AbortSignal): Promise<boolean> => {
    const conditions = [...(access.guard ?? []), ...transaction.conditions];
    const outcome = await access.store.transact({ ...transaction, conditions }, { signal });
    return outcome.committed;
  };

  function conditionsOf(name: string, { node, presence, absence }: Sight): Condition[] {
    return [
      { key: keys.node(name), expect: node?.revision ?? 'absent' },
      { key: keys.nodeLease(name), expect: presence?.revision ?? 'absent' },
      { key: keys.unreachable(name), expect: absence?.revision ?? 'absent' },
    ];
  }

  async function noteAbsence(
    name: string,
    sight: Sight,
    observed: number,
    signal: AbortSignal,
  ): Promise<void> {
    const before = sight.absence?.value;
    const now = clock.now();
    const absence: UnreachableNode = {
      node: name,
      instance: before?.instance ?? sight.node?.value.instance ?? 'unknown',
      since: Math.min(before?.since ?? now, now),
      observed,
    };
    const key = keys.unreachable(name);
    const writes = [{ op: 'put', key, value: encodeObject(unreachableKind, absence) } as const];
    if (!(await write({ conditions: conditionsOf(name, sight), writes }, signal))) return;
    counts.set(name, { since: absence.since, base: observed, from: clock.elapsed() });
    if (before !== undefined) return;
    counters.unreachable++;
    log.warn(
      { node: name, vanishAfter: patienceWith(sight) },
      'a node is unreachable; its pods may go on working',
    );
  }

  async function endAbsence(name: string, sight: Sight, signal: AbortSignal): Promise<void> {
    const writes = [{ op: 'delete', key: keys.unreachable(name) } as const];
    if (!(await write({ conditions: conditionsOf(name, sight), writes }, signal))) return;
    if (sight.presence === undefined) return;
    counters.returns++;
    log.info({ node: name }, 'a node is back');
  }

  async function release(name: string, absence: Stored<UnreachableNode>, signal: AbortSignal): Promise<void> {
    try {
      const { blocks, loans, addresses } = await releaseNode(access, name, { absence }, signal);
      counters.released++;
      counters.releasedBlocks += blocks.length;
      log.warn(
        { node: name, since: absence.value.since, blocks, loans, addresses },
        'a node has vanished; what it had is free again',
      );
    } catch (error) {
      const isBack = error instanceof PodwireError && ['NODE_ALIVE', 'NODE_UNKNOWN'].includes(error.code);
      if (!isBack) throw error;
      log.info({ node: name, err: error }, 'a node that was to be released is not');
    }
  }

  return {
    get absent() {
      return counts.size;
    },
    async attend(name, sight, signal) {
      const { absence } = sight;
      if (absence === undefined) counts.delete(name);
      const observed = absence === undefined ? 0 : observe(name, absence);
      const patience = patienceWith(sight);
      const noteEvery = patience / notesPerVanishing;
      const verdict = evaluateNode(sight, { now: clock.now(), observed, vanishAfter: patience, noteEvery });
      switch (verdict.act) {
        case 'rest':
          return undefined;
        case 'wait':
          return verdict.milliseconds;
        case 'note-absence':
        case 'note-time':
          return void (await noteAbsence(name, sight, observed, signal));
        case 'end-absence':
          return void (await endAbsence(name, sight, signal));
        case 'release':
          return void (await release(name, absence!, signal));
      }
    },
  };
}
