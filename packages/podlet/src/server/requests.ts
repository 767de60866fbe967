/** Bodies of requests, checked once at the border. */
import { PodwireError } from '@podwire/errors';
import { z } from 'zod';

const word = z.string().min(1).max(4096);
const name = z.string().min(1).max(253);

const target = { namespace: name, name, container: name.optional() };
const streams = {
  tty: z.boolean().default(false),
  stdin: z.boolean().default(false),
  stdout: z.boolean().default(true),
  stderr: z.boolean().default(true),
};

export const sourcesBody = z.strictObject({
  files: z.array(word).max(1000).default([]),
  urls: z.array(z.url()).max(1000).default([]),
});
export const execBody = z.strictObject({
  ...target,
  ...streams,
  argv: z.array(z.string().max(131_072)).min(1).max(1000),
});
export const attachBody = z.strictObject({ ...target, ...streams });
export const portForwardBody = z.strictObject({ namespace: name, name });

export const podBody = z.strictObject({ namespace: name, name });
export const restartBody = z.strictObject(target);

export type SourcesBody = z.output<typeof sourcesBody>;

/** @throws PodwireError REQUEST_INVALID naming every field */
export function readBody<T extends z.ZodType>(shape: T, body: unknown): z.output<T> {
  const read = shape.safeParse(body ?? {});
  if (read.success) return read.data;
  const complaints = read.error.issues.map(({ path, message }) => `${path.join('.') || 'body'}: ${message}`);
  throw new PodwireError('REQUEST_INVALID', complaints.join('; '));
}
