/** First work of the agent: it learns from the records what exists on this node. */
import type { BrokenRecord } from './records/record.js';
import { PodwireError } from '@podwire/errors';
import { endpointKey } from '@podwire/network-contract';
import type { EndpointContext, EndpointState } from './endpoints/context.js';

/**
 * Reads every record into memory. What is none is noted in `broken`, and keeps neither the agent nor another endpoint from
 * anything. Addresses are taken over by the first reconcile, when it is known which of these endpoints stay.
 * @throws PodwireError RECORD_TOO_NEW
 */
export function loadRecords(
  context: EndpointState & Pick<EndpointContext, 'readPodAddresses' | 'log'>,
): void {
  const { records, broken } = context.records.readAll();
  refuseNewer(broken);
  for (const record of records) {
    context.endpoints.put(record);
    context.ports.claim(record);
  }
  context.scopes.adopt();
  const intact = new Set(records.map(({ id }) => endpointKey(id)));
  for (const record of broken) noteBroken(context, record, intact);
  if (context.broken.all().some(({ phase }) => phase === 'ready')) holdWired(context);
}

/** After a rollback, pods of the newer version run: a reconcile would take their network away, so there must be none. */
function refuseNewer(broken: readonly BrokenRecord[]): void {
  const newer = broken.filter((record) => record.isNewer === true);
  const [first] = newer;
  if (first === undefined) return;
  const more = newer.length === 1 ? '' : ` and ${newer.length - 1} more`;
  throw new PodwireError(
    'RECORD_TOO_NEW',
    `${first.name}${more}: ${first.reason}; this version reads version 1`,
    {
      details: { files: newer.map(({ name }) => name) },
    },
  );
}

/** A torn `.wiring` file means that nothing was applied yet (docs/decisions/0003): it goes. Any other file stays. */
function noteBroken(
  context: Pick<EndpointContext, 'records' | 'broken' | 'log'>,
  record: BrokenRecord,
  intact: ReadonlySet<string>,
): void {
  const { name: file, reason, id } = record;
  const isIntact = id !== undefined && intact.has(endpointKey(id));
  if (record.isTorn === true && record.phase === 'wiring' && !isIntact) {
    context.log.info({ file, reason }, 'deleting a record that was never finished');
    if (tryDiscard(context, record)) return;
  }
  context.log.error({ file, reason }, 'a file in the directory of records cannot be used');
  context.broken.add(record);
}

function tryDiscard(
  { records, log }: Pick<EndpointContext, 'records' | 'log'>,
  record: BrokenRecord,
): boolean {
  try {
    records.discard(record);
    return true;
  } catch (err) {
    log.error({ err, file: record.name }, 'a record could not be deleted');
    return false;
  }
}

/** A record may say nothing at all. What the kernel routes to a link of ours, and no record names, is then the address of its pod. */
function holdWired({
  endpoints,
  broken,
  readPodAddresses,
}: Pick<EndpointContext, 'endpoints' | 'broken' | 'readPodAddresses'>): void {
  const known = new Set([
    ...endpoints.all().flatMap(({ leases }) => leases.map(({ address }) => address)),
    ...broken.held().map(({ address }) => address),
  ]);
  for (const address of readPodAddresses?.() ?? []) if (!known.has(address)) broken.hold(address);
}
