/** Reads what a request brings, or says which field of which object is wrong. */
import { PodwireError } from '@podwire/errors';
import type { z } from 'zod';

/** Limit of nesting. No request of the original has more than four levels. */
const deepest = 16;
/** Limit of fields and items, on all levels together: schemas take milliseconds for so many, and other requests wait. */
const mostEntries = 4_096;

/** Fields that the original adds to its answers, and its clients send back. They are derived. */
const derived = new Set(['key', 'link-sets', 'links']);

/**
 * @param subject the object or call, for messages: `network default:web`
 * @throws PodwireError REQUEST_INVALID, REQUEST_TOO_LARGE for too many levels, fields or items; details: object, field
 */
export function readFields<T>(schema: z.ZodType<T>, subject: string, body: unknown): T {
  if (!isObject(body) || Array.isArray(body))
    throw invalidField(subject, 'body', 'must be an object in JSON');
  const excess = findExcess(body);
  if (excess !== undefined)
    throw new PodwireError('REQUEST_TOO_LARGE', `${subject}: the body has more than ${excess}`, {
      action: null,
    });
  const result = schema.safeParse(withoutEmpty(body));
  if (result.success) return result.data;
  const { field, message } = describeIssue(result.error.issues[0]!);
  throw invalidField(subject, field, message);
}

/** REQUEST_INVALID about one field: `network default:web: subnet must be …`. */
export const invalidField = (object: string, field: string, message: string): PodwireError =>
  new PodwireError('REQUEST_INVALID', `${object}: ${field} ${message}`, { details: { object, field } });

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** Level by level. Derived fields are thrown away, and those of a large tenant are long. */
function findExcess(body: object): string | undefined {
  let [level, count]: [object[], number] = [[body], 0];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth === deepest) return `${deepest} levels`;
    const below = level.flatMap(givenOf);
    count += below.length;
    if (count > mostEntries) return `${mostEntries} fields and items`;
    level = below.filter(isObject);
  }
  return undefined;
}

const givenOf = (value: object): unknown[] =>
  Object.keys(value)
    .filter((field) => !derived.has(field))
    .map((field) => value[field as never]);

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
