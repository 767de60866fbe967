/**
 * Schema of a record: nothing else checks one. A resource that passes can be encoded for the kernel, and an answer can be
 * given to a runtime.
 */
import { tryParseAddress } from '@podwire/addresses';
import { currentVersion, parseResult } from '@podwire/cni';
import type { KindRegistry } from '@podwire/engine';
import { describeError } from '@podwire/errors';
import { z } from 'zod';
import { endpointFacts } from '../policy/inputs/facts.js';
import type { EndpointDetails, EndpointRecord } from './record.js';

const text = z.string().min(1).max(255);
const count = z.int().min(0);
const address = z.string().refine((value) => tryParseAddress(value) !== undefined, 'no address');

const port = z.int().min(0).max(65_535);
const rate = z.exactOptional(z.number().min(0));

const details = z.object({
  network: z.string(),
  mac: z.string(),
  portMappings: z.array(
    z.object({
      hostPort: port,
      containerPort: port,
      protocol: z.enum(['tcp', 'udp', 'sctp']),
      hostIP: z.exactOptional(z.string()),
    }),
  ),
  bandwidth: z.exactOptional(
    z.object({ ingressRate: rate, ingressBurst: rate, egressRate: rate, egressBurst: rate }),
  ),
  attachment: z.exactOptional(z.record(z.string(), z.json())),
  annotations: z.exactOptional(z.record(z.string(), z.string())),
  hostLinks: z.exactOptional(z.array(z.string())),
}) satisfies z.ZodType<EndpointDetails>;

/** A CNI result of the newest version. */
const answer = z.looseObject({}).superRefine((value, context) => {
  try {
    const { cniVersion } = parseResult(value);
    if (cniVersion !== currentVersion) context.addIssue(`a result of version ${cniVersion}`);
  } catch (error) {
    context.addIssue(describeError(error));
  }
});

const record = z.object({
  version: z.literal(1),
  id: z.object({ containerId: text, ifName: text, network: text }),
  pod: z.object({
    namespace: z.string().optional(),
    name: z.string().optional(),
    uid: z.string().optional(),
  }),
  namespace: z.object({ path: z.string(), device: count, inode: count }),
  leases: z.array(z.object({ address, pool: z.string() })),
  endpoint: details,
  resources: z.array(z.unknown()),
  needs: z.array(z.string()).optional(),
  answer,
  createdAt: z.number(),
  facts: endpointFacts.optional(),
});

/** Reports if a later version wrote it. A garbled record has no such number. */
export function isNewer(content: unknown): boolean {
  const version = (content as { version?: unknown } | null)?.version;
  return typeof version === 'number' && Number.isInteger(version) && version > 1;
}

/**
 * Checks a document. Fields that this version does not know are kept.
 * @param kinds check their resources
 * @returns the record; or the fault that keeps the document from being one, in words
 */
export function readRecord(content: unknown, kinds: Pick<KindRegistry, 'check'>): EndpointRecord | string {
  const { success, data, error } = record.safeParse(content);
  const version = (content as { version?: unknown } | null)?.version;
  if (!success && version !== undefined && version !== 1)
    return `a record of version ${JSON.stringify(version)}`;
  const problems = success
    ? resourceProblems(data.resources, kinds)
    : error.issues.map(({ path, message }) => `${path.join('.') || 'the document'}: ${message}`);
  const [first, ...others] = problems;
  if (first === undefined) return content as EndpointRecord;
  const more = others.length === 0 ? '' : `, and ${others.length} more`;
  return `not an endpoint record: ${first}${more}`;
}

function resourceProblems(resources: readonly unknown[], kinds: Pick<KindRegistry, 'check'>): string[] {
  return resources.flatMap((resource, index) => {
    const problem = kinds.check(resource);
    return problem === undefined ? [] : [`resources.${index}.${problem}`];
  });
}
