import type { AttachmentRequest } from '@podwire/cni';
import { endpointKey } from '@podwire/network-contract';
import { clearBroken } from './broken-records.js';
import type { Call, EndpointContext, RequestOrder } from './context.js';
import { teardown, type TeardownContext } from './teardown.js';
import { podName } from './registry.js';
import { endpointIdOf } from './read-request.js';

/** Context of DEL and GC. */
export type RemovalContext = TeardownContext &
  Pick<RequestOrder, 'locks' | 'pendingAdds'> &
  Pick<EndpointContext, 'broken' | 'log'>;

/**
 * DEL (CNI specification 1.1.0, section 2): from the record alone, whatever the configuration says now. An endpoint that
 * is not known is removed already. CNI_NETNS is not used: the record knows the namespace, and by its identity.
 */
export async function deleteEndpoint(
  context: RemovalContext,
  request: AttachmentRequest,
  call: Call,
): Promise<void> {
  const key = endpointKey(endpointIdOf(request));
  call.trace.identify({ endpoint: key });
  call.trace.stage('lock');
  await context.locks.withKey(key, call.signal, async () => {
    context.pendingAdds.noteRemoved((id) => endpointKey(id) === key);
    await removeEndpoint(context, key, call);
    clearBroken(context, key);
    // An ADD that has failed may have asked for addresses.
    context.cluster?.podRecords?.release((id) => endpointKey(id) === key);
  });
  call.trace.stage('answer');
  await call.answer('');
}

async function removeEndpoint(context: RemovalContext, key: string, call: Call): Promise<void> {
  const record = context.endpoints.get(key);
  if (record === undefined) return;
  const pod = podName(record);
  if (pod !== undefined) call.trace.identify({ pod });
  call.trace.stage('remove');
  await teardown(context, record, { signal: call.signal, trace: call.trace.resources() });
}
