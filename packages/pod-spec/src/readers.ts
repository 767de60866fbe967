/**
 * The building blocks of shapes: a reader takes a field to a typed value, complains about what is wrong, and puts the
 * default in. What a reader returns after a complaint is only there to go on reading; the manifest is refused anyway.
 */
import { type NameRule, parseQuantity, show, suggest } from '@podwire/apimachinery';
import { type Field } from './field.js';

export type Reader<T> = (field: Field) => T;
export type Maybe<T> = Reader<T | undefined>;

/** Text; numbers and the like need quotes, as the API server wants them. */
export const text: Maybe<string> = (field) => {
  if (field.absent || typeof field.value === 'string') return field.value as string | undefined;
  const advice = typeof field.value === 'object' ? '' : '; put it into quotes';
  field.complain(`must be text, is ${show(field.value)}${yamlWords(field.value)}${advice}`);
  return undefined;
};

/** Few people expect what YAML makes of these. */
function yamlWords(value: unknown): string {
  if (typeof value !== 'boolean') return '';
  return value ? ' (so YAML reads y, yes, on and true)' : ' (so YAML reads n, no, off and false)';
}

export const flag: Maybe<boolean> = (field) => {
  if (field.absent || typeof field.value === 'boolean') return field.value as boolean | undefined;
  field.complain(`must be true or false, is ${show(field.value)}`);
  return undefined;
};

export const mostInt32 = 2 ** 31 - 1;

export function integer(least: number, most: number): Maybe<number> {
  return (field) => {
    const { value } = field;
    if (field.absent) return undefined;
    if (Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most) {
      return value as number;
    }
    const range =
      most === mostInt32 || most === Number.MAX_SAFE_INTEGER
        ? `not below ${least}`
        : `from ${least} to ${most}`;
    const words = least === -most - 1 ? 'must be a whole number' : `must be a number ${range}`;
    field.complain(`${words}, is ${show(value)}`);
    return undefined;
  };
}

export function name(rule: NameRule): Maybe<string> {
  return (field) => {
    const value = text(field);
    if (value === undefined || (value.length <= rule.longest && rule.pattern.test(value))) return value;
    field.complain(`must be made of ${rule.words}, is ${show(value)}`);
    return undefined;
  };
}

export function oneOf<const Word extends string>(...words: readonly Word[]): Maybe<Word> {
  return (field) => {
    if (field.absent || words.includes(field.value as Word)) return field.value as Word | undefined;
    const advice = typeof field.value === 'string' ? suggest(field.value, words) : '';
    const choice = words.filter((word) => word !== '').join(' or ');
    field.complain(`must be ${choice}, is ${show(field.value)}${advice}`);
    return undefined;
  };
}

/** Text such as `500m` or `1Gi`; a bare number is accepted, as in the API, and becomes text. */
export const quantity: Maybe<string> = (field) => {
  if (field.absent) return undefined;
  const words = typeof field.value === 'number' ? String(field.value) : field.value;
  const amount = typeof words === 'string' ? parseQuantity(words) : undefined;
  if (amount === undefined) field.complain(`must be a quantity such as 500m or 1Gi, is ${show(field.value)}`);
  else if (amount < 0n) field.complain(`must not be negative, is ${show(field.value)}`);
  else return words as string;
  return undefined;
};

/** For fields in which the API takes "" for absent. */
export function emptyAsAbsent<T extends string>(reader: Maybe<T>): Maybe<T> {
  return (field) => (field.value === '' ? undefined : reader(field));
}

/** As it stands there. */
export const anything: Maybe<unknown> = (field) => field.value;

export function withDefault<T>(reader: Maybe<T>, fallback: T): Reader<T> {
  return (field) => reader(field) ?? fallback;
}

/** @param substitute what reading goes on with when it is missing or wrong */
export function required<T>(reader: Maybe<T>, substitute: T): Reader<T> {
  return (field) => {
    if (field.absent || field.value === '') field.complain(field.absent ? 'is missing' : 'must not be empty');
    return (field.value === '' ? undefined : reader(field)) ?? substitute;
  };
}

export function listOf<T>(item: Reader<T>): Reader<T[]> {
  return (field) => field.items().map(item);
}

/** Undefined when it is absent, instead of an empty list. */
export function optional<T>(reader: Reader<T>): Maybe<T> {
  return (field) => (field.absent ? undefined : reader(field));
}

export function mapOf<T>(
  entry: Reader<T>,
  checkKey?: (key: Field, words: string) => void,
): Reader<Record<string, T>> {
  return (field) =>
    Object.fromEntries(
      field.keys().map((key) => {
        checkKey?.(field.at(key), key);
        return [key, entry(field.at(key))];
      }),
    );
}

type Shape = Readonly<Record<string, Reader<unknown>>>;
type OptionalKey<S extends Shape> = {
  [K in keyof S]: undefined extends ReturnType<S[K]> ? K : never;
}[keyof S];
/** The result of reading a shape: fields that may be absent are optional. */
export type Shaped<S extends Shape> = {
  readonly [K in Exclude<keyof S, OptionalKey<S>>]: ReturnType<S[K]>;
} & {
  readonly [K in OptionalKey<S>]?: Exclude<ReturnType<S[K]>, undefined>;
};

export interface FurtherFields {
  /** Known to the API and of no use here: kept as they are. */
  readonly kept?: readonly string[];
  /** Known to the API, would change what the pod does, and cannot be honoured: field → why, or what to do instead. */
  readonly refused?: Readonly<Record<string, string>>;
  /** Of a pod of the API, what is refused is told when it is used, since it may be optional; or it means nothing on Linux. */
  readonly toldLater?: boolean;
}

/** A map of known fields. Fields of the API that Podwire does not use stay in the result under their own name. */
export function object<S extends Shape>(shape: S, further: FurtherFields = {}): Reader<Shaped<S>> {
  const { kept = [], refused = {}, toldLater = false } = further;
  const known = [...Object.keys(shape), ...kept, ...Object.keys(refused)];
  return (field) => {
    const others = field.keys().filter((key) => !Object.hasOwn(shape, key));
    if (field.context.strict || !toldLater) {
      for (const key of others) if (!kept.includes(key)) complainOf(field.at(key), key, known, refused);
    }
    const entries = Object.entries(shape).map(([key, reader]) => [key, reader(field.at(key))] as const);
    return Object.fromEntries([
      ...others.map((key) => [key, field.at(key).value] as const),
      ...entries.filter(([, value]) => value !== undefined),
    ]) as Shaped<S>;
  };
}

function complainOf(
  field: Field,
  key: string,
  known: readonly string[],
  refused: Readonly<Record<string, string>>,
): void {
  if (Object.hasOwn(refused, key)) field.refuse(refused[key]!);
  else if (field.context.strict) field.complain(`unknown field${suggest(key, known)}`);
}
