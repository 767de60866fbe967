import type { GcRequest } from '@podwire/cni';
import { type EndpointId, endpointKey } from '@podwire/network-contract';
import { joinErrors } from '../errors.js';
import { clearBroken } from './broken-records.js';
import type { Call } from './context.js';
import type { RemovalContext } from './delete.js';
import { teardown } from './teardown.js';
import type { EndpointRecord } from '../records/record.js';

/**
 * GC (CNI specification 1.1.0, section 2): removes every endpoint of the CNI network that is not in the list, alone on the
 * node. Goes on after errors. No list means that nothing is in use, as in the reference library.
 * @throws PodwireError REMOVE_INCOMPLETE with every failure
 */
export async function collectGarbage(context: RemovalContext, request: GcRequest, call: Call): Promise<void> {
  const valid = new Set(
    (request.validAttachments ?? []).map(
      ({ containerId, interfaceName }) => `${containerId},${interfaceName}`,
    ),
  );
  const isStale = ({ network, containerId, ifName }: EndpointId): boolean =>
    network === request.config.name && !valid.has(`${containerId},${ifName}`);
  call.trace.stage('lock');
  await context.locks.withAll(call.signal, async () => {
    call.trace.stage('remove');
    context.pendingAdds.noteRemoved(isStale);
    const stale = context.endpoints.all().filter(({ id }) => isStale(id));
    const broken = context.broken.all().flatMap(({ id }) => (id !== undefined && isStale(id) ? [id] : []));
    await removeAll(context, [...stale, ...broken.map((id) => ({ id }))], call);
    // Those of endpoints go with these.
    const isNone = (id: EndpointId): boolean => context.endpoints.get(endpointKey(id)) === undefined;
    context.cluster?.podRecords?.release((id) => isStale(id) && isNone(id));
  });
  call.trace.stage('answer');
  await call.answer('');
}

type Stale = EndpointRecord | { readonly id: EndpointId };

async function removeAll(context: RemovalContext, stale: readonly Stale[], call: Call): Promise<void> {
  const errors: unknown[] = [];
  for (const record of stale) {
    context.faults.reach('gc:next');
    const options = { signal: call.signal, trace: call.trace.resources() };
    const endpoint = endpointKey(record.id);
    try {
      if ('phase' in record) await teardown(context, record, options);
      clearBroken(context, endpoint);
      context.log.info({ endpoint }, 'GC removed an endpoint');
    } catch (err) {
      errors.push(err);
      context.log.warn({ err, endpoint }, 'GC could not remove an endpoint');
    }
  }
  if (errors.length > 0)
    throw joinErrors(`${errors.length} of ${stale.length} endpoints could not be removed`, errors);
}
