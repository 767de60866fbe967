/** Small checks for fields of requests. Each throws INVALID_ARGUMENT that names the field. */
import { CriError } from '../error.js';

export function refuse(field: string, why: string): never {
  throw new CriError('INVALID_ARGUMENT', `${field} ${why}`);
}

/** @returns the message, which must be there */
export function requireMessage<T>(field: string, value: T | undefined): T {
  return value ?? refuse(field, 'is missing');
}

export function requireText(field: string, value: string): void {
  if (value === '') refuse(field, 'is empty');
}

/** Runtimes make paths of ids and names. */
export function requireId(field: string, value: string): void {
  requireText(field, value);
  // eslint-disable-next-line no-control-regex -- what must not be in a path
  if (value === '.' || value === '..' || /[/\u0000-\u001f\u007f]/.test(value))
    refuse(field, `${JSON.stringify(value)} contains what an id cannot`);
}

export function requireAbsolute(field: string, value: string): void {
  if (!value.startsWith('/')) refuse(field, `${JSON.stringify(value)} is no absolute path`);
  if (value.includes('\0')) refuse(field, 'contains a zero byte');
}

/** A path below a directory that the request names elsewhere. */
export function requireRelative(field: string, value: string): void {
  if (value.startsWith('/') || value.split('/').includes('..') || value.includes('\0'))
    refuse(field, `${JSON.stringify(value)} leads out of its directory`);
}

export function requirePort(field: string, value: number, lowest: 0 | 1): void {
  if (value < lowest || value > 65_535) refuse(field, `${value} is not between ${lowest} and 65535`);
}

export function requireNotNegative(field: string, value: bigint): void {
  if (value < 0n) refuse(field, `${value} is negative`);
}

/** Goes into a file whose words are separated by white space. */
export function requireWord(field: string, value: string): void {
  if (!/^\S+$/.test(value)) refuse(field, `${JSON.stringify(value)} is not one word`);
}
