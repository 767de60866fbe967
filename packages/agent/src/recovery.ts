/** What the agent does first: it learns from the records what exists on this node. */
import type { BrokenRecord, EndpointRecord } from './records/record.js';
import { PodwireError } from '@podwire/errors';
import { endpointKey } from '@podwire/network-contract';
import { z } from 'zod';
import type { EndpointContext } from './endpoints/context.js';
import type { AgentRecord, EndpointDetails } from './endpoints/registry.js';

const rate = z.number().min(0).optional();

/** What the agent itself keeps in a record. */
const details: z.ZodType<EndpointDetails> = z.object({
  network: z.string(),
  mac: z.string(),
  portMappings: z.array(
    z.object({
      hostPort: z.int().min(0).max(65_535),
      containerPort: z.int().min(0).max(65_535),
      protocol: z.enum(['tcp', 'udp', 'sctp']),
      hostIP: z.string().optional(),
    }),
  ),
  bandwidth: z
    .object({ ingressRate: rate, ingressBurst: rate, egressRate: rate, egressBurst: rate })
    .optional(),
  hostLinks: z.array(z.string()).optional(),
}) as never;

/**
 * Reads every record into memory. What is none is noted in `broken`, and keeps neither the agent nor another endpoint from
 * anything. Addresses are taken over by the first reconcile, when it is known which of these endpoints stay.
 * @throws PodwireError RECORD_TOO_NEW
 */
export function loadRecords(context: EndpointContext): void {
  const { records, broken } = context.records.readAll();
  refuseNewer(broken);
  const unfit = records.flatMap((record) => take(context, record));
  const intact = new Set(context.endpoints.all().map(({ id }) => endpointKey(id)));
  for (const record of [...broken, ...unfit]) noteBroken(context, record, intact);
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

function take({ endpoints, ports }: EndpointContext, record: EndpointRecord): BrokenRecord[] {
  const { success, error } = details.safeParse(record.endpoint);
  if (success) {
    endpoints.put(record as AgentRecord);
    ports.claim(record as AgentRecord);
    return [];
  }
  const { id, phase } = record;
  const [first] = error.issues;
  const reason = `not an endpoint record: endpoint.${first!.path.join('.')}: ${first!.message}`;
  return [{ name: `${endpointKey(id)}.${phase}`, id, phase, reason, text: JSON.stringify(record) }];
}

/** A torn `.wiring` file means that nothing was applied yet (docs/decisions/0003): it goes. Any other file stays. */
function noteBroken(context: EndpointContext, record: BrokenRecord, intact: ReadonlySet<string>): void {
  const { name: file, reason, id } = record;
  const isIntact = id !== undefined && intact.has(endpointKey(id));
  if (record.isTorn === true && record.phase === 'wiring' && !isIntact) {
    context.log.info({ file, reason }, 'deleting a record that was never finished');
    if (tryDiscard(context, record)) return;
  }
  context.log.error({ file, reason }, 'a file in the directory of records cannot be used');
  context.broken.add(record);
}

function tryDiscard({ records, log }: EndpointContext, record: BrokenRecord): boolean {
  try {
    records.discard(record);
    return true;
  } catch (err) {
    log.error({ err, file: record.name }, 'a record could not be deleted');
    return false;
  }
}

/** A record may say nothing at all. What the kernel routes to a link of ours, and no record names, is then the address of its pod. */
function holdWired({ endpoints, broken, readPodAddresses }: EndpointContext): void {
  const known = new Set([
    ...endpoints.all().flatMap(({ leases }) => leases.map(({ address }) => address)),
    ...broken.held().map(({ address }) => address),
  ]);
  for (const address of readPodAddresses?.() ?? []) if (!known.has(address)) broken.hold(address);
}
