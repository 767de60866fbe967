/** Asking the store whether it still knows this node, and its blocks as this node knows them. */
import { nodeLeaseKind } from '@podwire/cluster-state';
import { type Condition, decodeObject } from '@podwire/store';
import { readItem, transact } from '../calls.js';
import { type Core, learn, presenceCondition } from '../core.js';
import { momentOf } from './trust.js';

/** Somebody who writes our blocks so often (loans) is busy, not wrong. */
const attempts = 5;

/**
 * One transaction that writes nothing: our presence is there, and each of our blocks is at the revision that we know. Nobody
 * takes anything from a node whose presence is there, so from the moment of asking on it takes at least the controller's
 * patience until somebody may.
 * @returns whether that is so. @throws as the store does
 */
export async function confirmHoldings(core: Core, signal: AbortSignal): Promise<boolean> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    if (core.presence === undefined && !(await readPresence(core, signal))) return false;
    const asked = momentOf(core.clock);
    if (await holdsAll(core, signal)) {
      core.trust.confirm(asked);
      return true;
    }
  }
  return false;
}

async function holdsAll(core: Core, signal: AbortSignal): Promise<boolean> {
  const blocks = blockConditions(core);
  const room = core.store.limits.operations - 1;
  for (let at = 0; at === 0 || at < blocks.length; at += room) {
    // It may have gone with the conditions before these.
    if (core.presence === undefined) return false;
    const conditions = [presenceCondition(core), ...blocks.slice(at, at + room)];
    const outcome = await transact(core, { conditions, writes: [] }, signal);
    if (outcome.committed) continue;
    learn(core, conditions, outcome.found);
    return false;
  }
  return true;
}

function blockConditions({ book, cache }: Core): Condition[] {
  const cidrs = new Set([...book.all()].map((held) => held.lender ?? held.cidr));
  return [...cidrs].flatMap((cidr) => {
    const stored = cache.blocks.get(cidr);
    return stored === undefined ? [] : [{ key: stored.key, expect: stored.revision }];
  });
}

/** @returns whether our presence is there. @throws as the store does */
export async function readPresence(core: Core, signal: AbortSignal): Promise<boolean> {
  const key = core.keys.nodeLease(core.node);
  const item = await readItem(core, key, signal);
  core.presence = undefined;
  if (item === undefined) return false;
  const { instance } = decodeObject(nodeLeaseKind, key, item.value);
  if (instance === core.instance) core.presence = item.revision;
  else core.trust.lose(instance);
  return instance === core.instance;
}
