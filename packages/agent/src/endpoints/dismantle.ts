/** How an endpoint goes away, whoever wants it: DEL, GC, a failed ADD, recovery, reconcile. */
import type { Tracer } from '@podwire/engine';
import { endpointKey } from '@podwire/network-contract';
import { type EndpointContext, ownedBy } from './context.js';
import type { AgentRecord } from './registry.js';

export interface DismantleOptions {
  readonly signal: AbortSignal;
  readonly trace?: Tracer;
}

/**
 * Takes an endpoint off the node: its resources, then its record, then its addresses. In this order, an address is never
 * free while the kernel has it. When a resource cannot be removed, everything behind it stays, and the endpoint waits in phase
 * `removing` for the next DEL or reconcile.
 * The caller holds the endpoint's lock.
 * @throws PodwireError REMOVE_INCOMPLETE, RECORD_IO
 */
export async function dismantle(
  context: EndpointContext,
  record: AgentRecord,
  options: DismantleOptions,
): Promise<void> {
  const removing = markRemoving(context, record);
  context.faults.reach('dismantle:marked');
  await context.engine.remove(ownedBy(removing), options);
  context.faults.reach('dismantle:unwired');
  forget(context, removing);
  context.faults.reach('dismantle:forgotten');
}

/** The record says from now on that the endpoint is going. @throws PodwireError RECORD_IO */
export function markRemoving({ records, endpoints }: EndpointContext, record: AgentRecord): AgentRecord {
  if (record.phase === 'removing') return record;
  const removing = records.advance(record, 'removing') as AgentRecord;
  endpoints.put(removing);
  return removing;
}

/**
 * Nothing of the endpoint exists in the kernel: the record goes, and its address and ports are free. They are free too when the
 * file cannot be deleted. Then no more than the name of the endpoint stays, for the next DEL or reconcile to try again.
 * @throws PodwireError RECORD_IO
 */
export function forget(context: EndpointContext, record: AgentRecord): void {
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
