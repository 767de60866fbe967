/** What a record must be like to be worked with. A resource that passes can be put into words for the kernel. */
import { tryParseAddress } from '@podwire/addresses';
import type { KindRegistry } from '@podwire/engine';
import { z } from 'zod';
import { endpointFacts } from '../policy/inputs/facts.js';

const text = z.string().min(1).max(255);
const count = z.int().min(0);
const address = z.string().refine((value) => tryParseAddress(value) !== undefined, 'no address');

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
  endpoint: z.object({}),
  resources: z.array(z.unknown()),
  answer: z.object({}),
  createdAt: z.number(),
  facts: endpointFacts.optional(),
});

/** Whether a later version wrote it. What is only garbled has no such number. */
export function isNewer(content: unknown): boolean {
  const version = (content as { version?: unknown } | null)?.version;
  return typeof version === 'number' && Number.isInteger(version) && version > 1;
}

/**
 * What keeps a document from being a record, in words; `undefined` when it is one.
 * @param kinds check their resources
 */
export function recordProblem(content: unknown, kinds: Pick<KindRegistry, 'check'>): string | undefined {
  const { success, data, error } = record.safeParse(content);
  const version = (content as { version?: unknown } | null)?.version;
  if (!success && version !== undefined && version !== 1)
    return `a record of version ${JSON.stringify(version)}`;
  const problems = success
    ? resourceProblems(data.resources, kinds)
    : error.issues.map(({ path, message }) => `${path.join('.') || 'the document'}: ${message}`);
  const [first, ...others] = problems;
  if (first === undefined) return undefined;
  const more = others.length === 0 ? '' : `, and ${others.length} more`;
  return `not an endpoint record: ${first}${more}`;
}

function resourceProblems(resources: readonly unknown[], kinds: Pick<KindRegistry, 'check'>): string[] {
  return resources.flatMap((resource, index) => {
    const problem = kinds.check(resource);
    return problem === undefined ? [] : [`resources.${index}.${problem}`];
  });
}
