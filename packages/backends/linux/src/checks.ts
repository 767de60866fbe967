/**
 * What the fields of a resource must be like when it is read from a file: an endpoint record. Each kind says it of its
 * own fields. A resource that passes can be put into words for the kernel.
 */
import { parseInterfaceAddress, tryParseAddress } from '@podwire/addresses';
import type { AnyResource } from '@podwire/engine';

/** Returns what is wrong with a value, with the path to it in front, or `undefined`. */
export type Check = (value: unknown) => string | undefined;

/** A check for each field but `kind`; the compiler misses none. */
export type Fields<R extends AnyResource> = { readonly [K in Exclude<keyof R, 'kind'>]-?: Check };

const rule =
  (isRight: (value: unknown) => boolean, words: string): Check =>
  (value) =>
    isRight(value) ? undefined : words;

const textLike = (isRight: (value: string) => boolean, words: string): Check =>
  rule((value) => typeof value === 'string' && isRight(value), words);

export const text = textLike(({ length }) => length > 0 && length <= 255, 'no text of 1 to 255 characters');
export const anyText = textLike(() => true, 'no text');
export const flag = rule((value) => typeof value === 'boolean', 'neither true nor false');
export const link = textLike((value) => /^[^/\s]{1,15}$/.test(value), 'no name of a link');
export const mac = textLike((value) => /^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/.test(value), 'no MAC address');
export const address = textLike(isAddress, 'no address');
export const prefix = textLike(isPrefix, 'no ADDRESS/LENGTH');
export const count = numberUpTo(Number.MAX_SAFE_INTEGER);
export const port = numberUpTo(65_535);
export const side = oneOf('host', 'pod');
export const scope = optional(oneOf('global', 'link', 'host'));
export const protocol = oneOf('tcp', 'udp', 'sctp');

function numberUpTo(most: number): Check {
  const isRight = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;
  return rule((value) => isRight(value) && Number(value) <= most, `no number of 0 to ${most}`);
}

/** Not those with a zone (`fe80::1%eth0`). */
function isAddress(value: string): boolean {
  return tryParseAddress(value) !== undefined;
}

function isPrefix(value: string): boolean {
  try {
    parseInterfaceAddress(value);
    return true;
  } catch {
    return false;
  }
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
