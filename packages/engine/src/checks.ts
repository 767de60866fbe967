/**
 * Checks of the fields of a resource that is read from a file. Each kind has checks of its own fields, and backends add
 * checks of their own sorts of values.
 */
import type { AnyResource } from './contract.js';

/** Returns what is wrong with a value, with the path to it in front, or `undefined`. */
export type Check = (value: unknown) => string | undefined;

/** A check for each field but `kind`; the compiler misses none. */
export type Fields<R extends AnyResource> = { readonly [K in Exclude<keyof R, 'kind'>]-?: Check };

export const rule =
  (isRight: (value: unknown) => boolean, words: string): Check =>
  (value) =>
    isRight(value) ? undefined : words;

export const textLike = (isRight: (value: string) => boolean, words: string): Check =>
  rule((value) => typeof value === 'string' && isRight(value), words);

export const text = textLike(({ length }) => length > 0 && length <= 255, 'no text of 1 to 255 characters');
export const anyText = textLike(() => true, 'no text');
export const flag = rule((value) => typeof value === 'boolean', 'neither true nor false');
export const count = numberUpTo(Number.MAX_SAFE_INTEGER);

export function numberUpTo(most: number): Check {
  const isRight = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;
  return rule((value) => isRight(value) && Number(value) <= most, `no number of 0 to ${most}`);
}

export function oneOf(...allowed: readonly (string | number)[]): Check {
  return rule((value) => allowed.includes(value as string), `none of ${allowed.join(', ')}`);
}

export function optional(check: Check): Check {
  return (value) => (value === undefined ? undefined : check(value));
}

export const listOf =
  (check: Check, least = 0): Check =>
  (value) => {
    if (!Array.isArray(value) || value.length < least) return `no list of at least ${least}`;
    return firstProblem(value.map((item, index) => [String(index), check(item)]));
  };

/** Fields that are not named are ignored: a later version may have added them. */
export const record =
  (fields: Readonly<Record<string, Check>>): Check =>
  (value) => {
    if (typeof value !== 'object' || value === null) return 'no object';
    const given = value as Readonly<Record<string, unknown>>;
    return firstProblem(Object.entries(fields).map(([name, check]) => [name, check(given[name])]));
  };

/** The check of a kind. */
export const resource = <R extends AnyResource>(fields: Fields<R>): Check => record(fields);

/** By the value of one field. */
export const variants =
  (field: string, checks: Readonly<Record<string, Check>>): Check =>
  (value) => {
    const problem = record({ [field]: oneOf(...Object.keys(checks)) })(value);
    return problem ?? checks[(value as Readonly<Record<string, string>>)[field]!]!(value);
  };

/** `host.name: no name of a link` */
function firstProblem(problems: readonly (readonly [string, string | undefined])[]): string | undefined {
  const [found] = problems.filter(([, problem]) => problem !== undefined);
  if (found === undefined) return undefined;
  const [name, problem] = found;
  // A path goes on, a reason begins.
  return /^[\w.]+: /.test(problem!) ? `${name}.${problem}` : `${name}: ${problem}`;
}
