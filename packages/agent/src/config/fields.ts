/** The kinds of values that the configuration is made of, each with the words of its complaint. */
import path from 'node:path';
import { z } from 'zod';
import { durationPattern, parseDuration } from './durations.js';

/** The pattern of the CNI specification for network names (1.1.0, section 1). */
const namePattern = /^[a-zA-Z0-9][a-zA-Z0-9_.-]*$/;

/** `sun_path` has 108 bytes, the last one is a zero (unix(7)). */
const longestSocketPath = 107;

export const name = z
  .string()
  .max(253)
  .regex(namePattern, 'must begin with a letter or digit and hold only letters, digits and _ . -');

/** Milliseconds, from text such as `30s`; between the two durations, both included. */
export function duration(least: string, most: string) {
  const [low, high] = [parseDuration(least), parseDuration(most)];
  return z
    .string('must be a duration such as 500ms, 30s or 5m')
    .regex(durationPattern, 'must be a duration such as 500ms, 30s or 5m')
    .transform(parseDuration)
    .refine((value) => value >= low && value <= high, `must lie between ${least} and ${most}`);
}

export const absolutePath = z
  .string()
  .refine((value) => path.isAbsolute(value) && !value.includes('\0'), 'must be an absolute path')
  .transform((value) => path.normalize(value));

/** A path to which these characters are added for a socket. */
export const socketPathIn = (suffix: string) =>
  absolutePath.refine(
    (value) => Buffer.byteLength(value + suffix) <= longestSocketPath,
    `must be at most ${longestSocketPath - suffix.length} bytes long (unix(7))`,
  );

export const socketPath = socketPathIn('');

/** `127.0.0.1:PORT`, `[::1]:PORT` or `localhost:PORT`: nothing beyond this machine may ask. */
export const loopbackListener = z.string().transform((text, context): { host: string; port: number } => {
  const match = /^(localhost|127(?:\.\d{1,3}){3}|\[::1\]):(\d{1,5})$/.exec(text);
  if (match !== null && Number(match[2]) <= 65_535) {
    return { host: match[1]!.replace(/[[\]]/g, ''), port: Number(match[2]) };
  }
  context.addIssue({
    code: 'custom',
    message: 'must be a loopback address and a port, as in 127.0.0.1:9464',
  });
  return z.NEVER;
});
