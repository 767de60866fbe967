/** Reads what a request brings, or says which field of which object is wrong. */
import { PodwireError } from '@podwire/errors';
import type { z } from 'zod';

/** Limit of nesting. No request of the original has more than four levels. */
const deepest = 16;

/** Fields that the original adds to its answers, and its clients send back. They are derived. */
const derived = new Set(['key', 'link-sets', 'links']);

/**
 * @param subject the object or call, for messages: `network default:web`
 * @throws PodwireError REQUEST_INVALID, REQUEST_TOO_LARGE for nesting that is too deep; details: object, field
 */
export function readFields<T>(schema: z.ZodType<T>, subject: string, body: unknown): T {
  if (isDeeper(body, deepest))
    throw new PodwireError('REQUEST_TOO_LARGE', `${subject}: the body has more than ${deepest} levels`, {
      action: null,
    });
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw invalidField(subject, 'body', 'must be an object in JSON');
  const result = schema.safeParse(withoutEmpty(body));
  if (result.success) return result.data;
  const { field, message } = describeIssue(result.error.issues[0]!);
  throw invalidField(subject, field, message);
}

/** REQUEST_INVALID about one field: `network default:web: subnet must be …`. */
export const invalidField = (object: string, field: string, message: string): PodwireError =>
  new PodwireError('REQUEST_INVALID', `${object}: ${field} ${message}`, { details: { object, field } });

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((each) => isDeeper(each, levels - 1));
}

/** Programs in Go send the empty value of a field that is not set, and leave out fields that are empty. */
function withoutEmpty(value: object): object {
  const given = Object.entries(value).filter(
    ([field, each]) => each !== '' && each !== 0 && each !== null && !derived.has(field),
  );
  return Object.fromEntries(
    given.map(([field, each]) => [field, isFields(field, each) ? withoutEmpty(each) : each]),
  );
}

/** Labels are a map of the user: an empty one among them is given. */
const isFields = (field: string, value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && field !== 'Labels';

function describeIssue(issue: z.core.$ZodIssue): { readonly field: string; readonly message: string } {
  const path = issue.path.map(String);
  const field = (extra: readonly string[] = []): string => [...path, ...extra].join('.') || 'body';
  if (issue.code === 'unrecognized_keys')
    return { field: field(issue.keys.slice(0, 1)), message: 'is not known' };
  if (issue.code === 'invalid_value')
    return { field: field(), message: choiceOf(issue.values.map(String), issue.message) };
  if (issue.code === 'invalid_type') return { field: field(), message: typeOf(issue) };
  if (issue.code === 'too_big')
    return { field: field(), message: `must have at most ${issue.maximum} entries` };
  return { field: field(), message: issue.message };
}

const choiceOf = (values: readonly string[], message: string): string =>
  message.startsWith('must') ? message : `must be ${values.join(' or ')}`;

const typeNames: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

function typeOf(issue: z.core.$ZodIssueInvalidType): string {
  if (issue.message.startsWith('external')) return issue.message;
  return `must be ${typeNames[issue.expected] ?? issue.expected}`;
}
