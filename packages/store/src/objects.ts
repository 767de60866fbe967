/**
 * Objects in a store: JSON with a kind and a schema version. A reader that meets an older version brings it up to date in
 * memory (the store keeps the old text until the object is written again); one that meets a newer version refuses.
 */
import { describeError, type ErrorCode, PodwireError } from '@podwire/errors';
import type { z } from 'zod';

export interface ObjectKind<T> {
  /** `pool`, `block`, … */
  readonly name: string;
  /** The version that is written; the first is 1. */
  readonly version: number;
  readonly schema: z.ZodType<T>;
  /** `migrations[n]` turns what version n wrote into what version n + 1 would have. */
  readonly migrations: Readonly<
    Record<number, (old: Readonly<Record<string, unknown>>) => Record<string, unknown>>
  >;
}

/** Limits of an object's text in characters and nesting: Podwire writes none beyond them. */
export const objectLimits = { characters: 512 * 1024, depth: 32 } as const;

type Fields = Record<string, unknown>;

/**
 * The text of an object: `{"kind":"pool","version":1,"value":{…}}`.
 * @throws PodwireError OBJECT_INVALID for a value that could not be read again; details: kind, field
 */
export function encodeObject<T>(kind: ObjectKind<T>, value: T): string {
  const checked = check(kind, `a new ${kind.name}`, value);
  const text = JSON.stringify({ kind: kind.name, version: kind.version, value: checked });
  if (text.length > objectLimits.characters) throw invalid(kind, `a new ${kind.name}`, '', 'is too long');
  return text;
}

/**
 * Reads the object at `key`.
 * @throws PodwireError OBJECT_INVALID, OBJECT_TOO_NEW; details: key, kind, field
 */
export function decodeObject<T>(kind: ObjectKind<T>, key: string, text: string): T {
  const { version, value } = readEnvelope(kind, key, parse(kind, key, text));
  return check(kind, key, version === kind.version ? value : migrate(kind, key, version, value));
}

function parse<T>(kind: ObjectKind<T>, key: string, text: string): unknown {
  if (text.length > objectLimits.characters) throw invalid(kind, key, '', 'is too long');
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    throw invalid(kind, key, '', 'is no JSON', error);
  }
  if (isDeeper(parsed, objectLimits.depth)) throw invalid(kind, key, '', 'is nested too deeply');
  return parsed;
}

function readEnvelope<T>(
  kind: ObjectKind<T>,
  key: string,
  parsed: unknown,
): { readonly version: number; readonly value: Fields } {
  if (!isFields(parsed)) throw invalid(kind, key, '', 'is no object');
  const { kind: name, version, value } = parsed;
  if (name !== kind.name) throw invalid(kind, key, 'kind', `is ${JSON.stringify(name)}, not "${kind.name}"`);
  if (typeof version !== 'number' || !Number.isInteger(version) || version < 1)
    throw invalid(kind, key, 'version', 'is no version');
  // Only now: what is newer may have any shape.
  if (version > kind.version) throw tooNew(kind, key, version);
  if (!isFields(value)) throw invalid(kind, key, 'value', 'is no object');
  return { version, value };
}

function migrate<T>(kind: ObjectKind<T>, key: string, from: number, value: Fields): Fields {
  let current = value;
  for (let version = from; version < kind.version; version++) {
    const step = kind.migrations[version];
    if (step === undefined) throw invalid(kind, key, 'version', `is ${version}, which is no longer read`);
    try {
      current = step(current);
    } catch (error) {
      throw invalid(kind, key, 'value', `cannot be brought from version ${version} to the next`, error);
    }
  }
  return current;
}

function check<T>(kind: ObjectKind<T>, key: string, value: unknown): T {
  const result = kind.schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw invalid(
    kind,
    key,
    ['value', ...(issue?.path ?? [])].map(String).join('.'),
    issue?.message ?? 'is wrong',
  );
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1));
}

function invalid<T>(
  kind: ObjectKind<T>,
  key: string,
  field: string,
  what: string,
  cause?: unknown,
): PodwireError {
  const message = [key, field, what].filter((part) => part !== '').join(': ');
  return failure('OBJECT_INVALID', message, { key, kind: kind.name, field }, cause);
}

const tooNew = <T>(kind: ObjectKind<T>, key: string, version: number): PodwireError =>
  failure('OBJECT_TOO_NEW', `${key}: version: is ${version}; ${kind.name} is read up to ${kind.version}`, {
    key,
    kind: kind.name,
    field: 'version',
  });

function failure(
  code: ErrorCode,
  message: string,
  details: Record<string, string>,
  cause?: unknown,
): PodwireError {
  const short = cause === undefined ? message : `${message} (${describeError(cause).slice(0, 200)})`;
  return new PodwireError(code, short, { details });
}
