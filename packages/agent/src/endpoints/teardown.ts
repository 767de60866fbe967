/** The one way to remove an endpoint: for DEL, GC, a failed ADD, recovery and reconcile. */
import type { Tracer } from '@podwire/engine';
import { endpointKey } from '@podwire/network-contract';
import type { EndpointContext, EndpointState } from './context.js';
import type { EndpointRecord } from '../records/record.js';

/** Memory and files that know of an endpoint. */
export type ForgetContext = Omit<EndpointState, 'broken'> & Pick<EndpointContext, 'networks' | 'cluster'>;

export type TeardownContext = ForgetContext & Pick<EndpointContext, 'engine' | 'policy' | 'faults'>;

export interface TeardownOptions {
  readonly signal: AbortSignal;
  readonly trace?: Tracer;
}

/**
 * Removes the endpoint's resources, then its record, then its addresses. In this order, an address is never free while the kernel
 * has it. When a resource cannot be removed, everything after it stays, and the endpoint waits in phase `removing` for the next DEL
 * or reconcile. The caller holds the endpoint's lock.
 * @throws PodwireError REMOVE_INCOMPLETE, RECORD_IO
 */
export async function teardown(
  context: TeardownContext,
  record: EndpointRecord,
  options: TeardownOptions,
): Promise<void> {
  const removing = markRemoving(context, record);
  context.faults.reach('teardown:marked');
  await context.scopes.apply(removing, { ...options, engine: context.engine });
  context.faults.reach('teardown:unwired');
  // After its link: what has no link cannot send. Before its record: the address has no other owner yet.
  if (context.policy !== undefined) {
    await context.policy.detach(removing);
    context.faults.reach('teardown:unselected');
  }
  forget(context, removing);
  context.faults.reach('teardown:forgotten');
}

/** Writes into the record that the endpoint is being removed. @throws PodwireError RECORD_IO */
export function markRemoving(
  { records, endpoints }: Pick<EndpointState, 'records' | 'endpoints'>,
  record: EndpointRecord,
): EndpointRecord {
  if (record.phase === 'removing') return record;
  const removing = records.advance(record, 'removing');
  endpoints.put(removing);
  return removing;
}

/**
 * For an endpoint without anything in the kernel: deletes the record and frees its addresses and ports. They are free also when the
 * file cannot be deleted; then only the name of the endpoint stays, for the next DEL or reconcile.
 * @throws PodwireError RECORD_IO
 */
export function forget(context: ForgetContext, record: EndpointRecord): void {
  const key = endpointKey(record.id);
  context.endpoints.drop(record.id);
  try {
    context.records.delete(record);
  } catch (error) {
    context.endpoints.put({ ...record, leases: [], resources: [] });
    throw error;
  } finally {
    for (const { ipam } of context.networks) ipam.release(key);
    context.cluster?.noteFree(record);
    context.ports.release(record.id);
  }
}
