import { CniError } from './error.js';

/** A value that has the wrong shape, and where: `plugins[1].ipam.type`. An empty path is the document itself. */
export class ShapeError extends Error {
  readonly path: string;
  readonly problem: string;

  constructor(path: string, problem: string) {
    super(path === '' ? problem : `${path}: ${problem}`);
    this.name = 'ShapeError';
    this.path = path;
    this.problem = problem;
  }
}

export type JsonObject = { readonly [key: string]: unknown };

/** Reads one value found at `path`, or throws a {@link ShapeError}. */
export type Reader<T> = (value: unknown, path: string) => T;

/** Runs readers and turns what they refuse into a CniError of `code`, whose message begins with `what`. */
export function readAs<T>(code: number, what: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ShapeError)) throw error;
    throw new CniError(code, `${what}: ${error.message}`, { cause: error });
  }
}

export function joinPath(path: string, key: string): string {
  const step = /^[\w$-]+$/.test(key) ? key : JSON.stringify(key);
  return path === '' ? step : `${path}.${step}`;
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object') return 'an object';
  return `a ${typeof value}`;
}

export function mismatch(path: string, wanted: string, value: unknown): ShapeError {
  return new ShapeError(path, `must be ${wanted}, is ${kindOf(value)}`);
}

export const object: Reader<JsonObject> = (value, path) => {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw mismatch(path, 'an object', value);
  return value as JsonObject;
};

export const string: Reader<string> = (value, path) => {
  if (typeof value !== 'string') throw mismatch(path, 'a string', value);
  return value;
};

export const boolean: Reader<boolean> = (value, path) => {
  if (typeof value !== 'boolean') throw mismatch(path, 'true or false', value);
  return value;
};

/** A whole number in the given range, both ends included. */
export function integer(least: number, most: number): Reader<number> {
  return (value, path) => {
    if (typeof value !== 'number') throw mismatch(path, 'a number', value);
    if (!Number.isInteger(value) || value < least || value > most) {
      throw new ShapeError(path, `must be a whole number from ${least} to ${most}, is ${value}`);
    }
    return value;
  };
}

export function array<T>(item: Reader<T>): Reader<T[]> {
  return (value, path) => {
    if (!Array.isArray(value)) throw mismatch(path, 'an array', value);
    return value.map((entry, index) => item(entry, `${path}[${index}]`));
  };
}

export function record<T>(item: Reader<T>): Reader<Record<string, T>> {
  return (value, path) => {
    const entries = Object.entries(object(value, path));
    return Object.fromEntries(entries.map(([key, entry]) => [key, item(entry, joinPath(path, key))]));
  };
}

/** A key that must be there. */
export function required<T>(from: JsonObject, key: string, path: string, read: Reader<T>): T {
  if (!Object.hasOwn(from, key)) throw new ShapeError(joinPath(path, key), 'is missing');
  return read(from[key], joinPath(path, key));
}

/** A key that may be absent; `null` counts as absent, as it does for Go's decoder. */
export function optional<T>(from: JsonObject, key: string, path: string, read: Reader<T>): T | undefined {
  const value = Object.hasOwn(from, key) ? from[key] : undefined;
  return value === undefined || value === null ? undefined : read(value, joinPath(path, key));
}
