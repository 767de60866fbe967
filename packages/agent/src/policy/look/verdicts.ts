/** Decisions of policy on many connections at one moment: `POST /v1/policy/verdicts`. */
import { familyOf, formatAddress, parseAddress, tryParseAddress } from '@podwire/addresses';
import { PodwireError } from '@podwire/errors';
import { compact } from '@podwire/platform';
import { z } from 'zod';
import type { NodePolicy } from '../contract.js';
import { type ConnectionVerdict, describeVerdict } from './explain.js';

const address = z
  .string()
  .max(45)
  .refine((text) => tryParseAddress(text) !== undefined, { error: 'must be an address', abort: true })
  // Pods and members of sets are looked up by canonical text.
  .transform((text) => formatAddress(parseAddress(text)));

/** At most what one body can carry. */
const mostConnections = 4_096;

const questions = z.strictObject({
  connections: z
    .array(
      z
        .strictObject({
          source: address,
          destination: address,
          protocol: z.enum(['tcp', 'udp', 'sctp', 'icmp', 'icmpv6']),
          port: z.int().min(1).max(65_535).optional(),
          icmpType: z.int().min(0).max(255).optional(),
        })
        .refine(({ source, destination }) => familyOf(source) === familyOf(destination), {
          error: 'source and destination must be of one family',
        }),
    )
    .max(mostConnections),
});

/** @returns in the order of the questions @throws PodwireError REQUEST_INVALID */
export function decideConnections(
  policy: Pick<NodePolicy, 'inputs' | 'compiler' | 'decider'>,
  body: unknown,
): ConnectionVerdict[] {
  const read = questions.safeParse(body);
  if (!read.success) {
    const problems = read.error.issues.map(
      ({ path, message }) => `${path.join('.') || 'the body'}: ${message}`,
    );
    throw new PodwireError('REQUEST_INVALID', problems.slice(0, 10).join('; '));
  }
  const decide = policy.decider();
  return read.data.connections.map(({ port, ...connection }) =>
    describeVerdict(policy, decide, compact({ ...connection, destinationPort: port })),
  );
}
