import type { CallOptions, Lease } from '../contract.js';
import { leaseLost, unavailable } from '../failures.js';
import { toLeaseId } from './codec.js';
import { EtcdFailure } from './failure.js';
import { leaseGrant, leaseKeepAlive, leaseRevoke } from './methods.js';
import type { Session } from './session.js';

/** @param ttl milliseconds; etcd has whole seconds, and grants more where its elections take longer. */
export async function grantLease(session: Session, ttl: number, { signal }: CallOptions): Promise<Lease> {
  const request = { TTL: Math.max(1, Math.ceil(ttl / 1000)) };
  // One whose answer is lost ends by itself.
  const { response } = await session.call({ method: leaseGrant, request, repetition: 'repeatable', signal });
  const { ID: number, TTL: seconds } = response;
  const id = toLeaseId(number);
  if (id === undefined) throw unavailable('etcd granted a lease without an id');
  return {
    id,
    ttl: seconds * 1000,
    keepAlive: (options = {}) => keepAlive(session, id, number, options),
    revoke: (options = {}) => revoke(session, number, options),
  };
}

async function keepAlive(
  session: Session,
  id: string,
  number: string,
  { signal }: CallOptions,
): Promise<void> {
  const call = { method: leaseKeepAlive, request: { ID: number }, repetition: 'read', signal } as const;
  const { response } = await unlessEnded(session.call(call), () => {
    throw leaseLost(id);
  });
  if (response.TTL <= 0) throw leaseLost(id);
}

async function revoke(session: Session, number: string, { signal }: CallOptions): Promise<void> {
  const call = { method: leaseRevoke, request: { ID: number }, repetition: 'repeatable', signal } as const;
  await unlessEnded<unknown>(session.call(call), () => undefined);
}

async function unlessEnded<T>(work: Promise<T>, ended: () => T): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof EtcdFailure && error.kind === 'no-lease') return ended();
    throw error;
  }
}
