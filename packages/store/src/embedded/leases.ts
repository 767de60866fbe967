/** Leases in the database. All of these run inside a write transaction, but for `findDue`. */
import type { LeaseId } from '../contract.js';
import { leaseLost } from '../failures.js';
import type { Database } from './database.js';

/** A lease that is over, if there is one. */
export function findDue({ due }: Database, now: number): LeaseId | undefined {
  const [first] = due.getKeys({ limit: 1 });
  return first !== undefined && first[0] <= now ? first[1] : undefined;
}

/** When the next one ends. */
export function findDeadline({ due }: Database): number | undefined {
  const [first] = due.getKeys({ limit: 1 });
  return first?.[0];
}

/** Begins one, or prolongs it. */
export function setDeadline({ leases, due }: Database, id: LeaseId, ttl: number, now: number): void {
  const before = leases.get(id);
  if (before !== undefined) due.removeSync([before[1], id]);
  leases.putSync(id, [ttl, now + ttl]);
  due.putSync([now + ttl, id], true);
}

/** @throws PodwireError STORE_LEASE_LOST */
export function ttlOf({ leases }: Database, id: LeaseId): number {
  const lease = leases.get(id);
  if (lease === undefined) throw leaseLost(id);
  return lease[0];
}

/** @returns the keys that go with it */
export function removeLease(database: Database, id: LeaseId): readonly string[] {
  const lease = database.leases.get(id);
  if (lease === undefined) return [];
  const keys = keysOf(database, id);
  database.leases.removeSync(id);
  database.due.removeSync([lease[1], id]);
  return keys;
}

function keysOf({ bound }: Database, id: LeaseId): readonly string[] {
  const keys: string[] = [];
  for (const [lease, key] of bound.getKeys({ start: [id, ''] })) {
    if (lease !== id) break;
    keys.push(key);
  }
  return keys;
}
