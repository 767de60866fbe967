/** Errors that a schema finds, in words for people. */
import { type Path, show, suggest } from '@podwire/apimachinery';
import type { z } from 'zod';
import { fieldNames, joinOr } from './schema-tree.js';

export interface FieldProblem {
  readonly path: Path;
  /** After the path: `must be …`. */
  readonly message: string;
}

type Issue = z.core.$ZodIssue;

/** As many as anyone reads; looking for what was meant takes time. */
const mostProblems = 100;

export function describeIssues(
  schema: z.ZodType,
  value: unknown,
  issues: readonly Issue[],
): readonly FieldProblem[] {
  const unknown = new Set(
    issues.filter(({ code }) => code === 'unrecognized_keys').map(({ path }) => path.join('.')),
  );
  // With a field misspelt, what is said about the fields together follows from that.
  const own = issues.filter(({ code, path }) => code !== 'custom' || !unknown.has(path.join('.')));
  return own.flatMap((issue) => describe(schema, value, issue, [])).slice(0, mostProblems);
}

function describe(schema: z.ZodType, root: unknown, issue: Issue, above: Path): FieldProblem[] {
  const path = [...above, ...(issue.path as Path)];
  const value = valueAt(root, path);
  const one = (message: string): FieldProblem[] => [{ path, message }];
  switch (issue.code) {
    case 'invalid_type':
      return one(describeType(String(issue.expected), value));
    case 'invalid_value':
      return one(describeChoice(issue.values.map(String), value));
    case 'too_big':
      return one(`must ${limitWords(issue.origin, `at most ${issue.maximum}`)}, ${actual(value)}`);
    case 'too_small':
      return one(`must ${limitWords(issue.origin, `at least ${issue.minimum}`)}, ${actual(value)}`);
    case 'unrecognized_keys':
      return issue.keys.map((key) => ({ path: [...path, key], message: describeUnknown(schema, path, key) }));
    case 'invalid_union':
      return describeUnion(schema, root, issue, path);
    case 'invalid_key':
      return one(`its key ${issue.issues[0]?.message ?? 'is wrong'}`);
    default:
      return one(issue.message);
  }
}

const typeNames: Readonly<Record<string, string>> = {
  int: 'a whole number',
  number: 'a number',
  string: 'text',
  boolean: 'true or false',
  array: 'a list',
  object: 'a map',
  record: 'a map',
};

function describeType(expected: string, value: unknown): string {
  if (value === undefined) return 'is missing';
  const wanted = typeNames[expected] ?? expected;
  const isPlain = typeof value === 'number' || typeof value === 'boolean';
  const hint = expected === 'string' && isPlain ? '; write it in quotes' : '';
  return `must be ${wanted}, is ${show(value)}${hint}`;
}

function describeChoice(choices: readonly string[], value: unknown): string {
  if (value === undefined) return 'is missing';
  const near = typeof value === 'string' ? suggest(value, choices) : '';
  return `must be ${joinOr(choices)}, is ${show(value)}${near}`;
}

function limitWords(origin: string, limit: string): string {
  if (origin === 'string') return `have ${limit} characters`;
  if (origin === 'array') return `have ${limit} entries`;
  return `be ${limit}`;
}

const actual = (value: unknown): string => {
  if (Array.isArray(value)) return `has ${value.length}`;
  return typeof value === 'string' ? `has ${value.length}` : `is ${show(value)}`;
};

function describeUnknown(schema: z.ZodType, path: Path, key: string): string {
  if (path.length === 1 && path[0] === 'metadata' && key === 'namespace')
    return 'must not be there: objects of this kind belong to the whole cluster';
  return `unknown field${suggest(key, fieldNames(schema, path))}`;
}

/** Of the branches the one whose type fits; otherwise the types that would have. */
function describeUnion(
  schema: z.ZodType,
  root: unknown,
  issue: Extract<Issue, { code: 'invalid_union' }>,
  path: Path,
): FieldProblem[] {
  const value = valueAt(root, path);
  if (value === undefined) return [{ path, message: 'is missing' }];
  const fitting = issue.errors.find((branch) => !branch.some(isWrongAtRoot));
  if (fitting !== undefined) return fitting.flatMap((inner) => describe(schema, root, inner, path));
  const wanted = issue.errors.flatMap((branch) => branch.filter(isWrongAtRoot).map(wantedBy));
  const message =
    wanted.length === 0 ? issue.message : `must be ${joinOr([...new Set(wanted)])}, is ${show(value)}`;
  return [{ path, message }];
}

const isWrongAtRoot = ({ code, path }: Issue): boolean =>
  path.length === 0 && (code === 'invalid_type' || code === 'invalid_value');

function wantedBy(issue: Issue): string {
  if (issue.code === 'invalid_type') return typeNames[issue.expected] ?? issue.expected;
  if (issue.code === 'invalid_value')
    return joinOr(issue.values.map((each) => (each === '' ? 'empty' : String(each))));
  return issue.message;
}

function valueAt(root: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (at, step) =>
      typeof at === 'object' && at !== null && Object.hasOwn(at, step)
        ? (at as Record<string | number, unknown>)[step]
        : undefined,
    root,
  );
}
