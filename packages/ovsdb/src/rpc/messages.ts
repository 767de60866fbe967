/** JSON-RPC 1.0 as OVSDB uses it (RFC 7047, section 4). */
import { ProtocolError, RefusedError } from '../errors.js';
import { isRecord } from '../values.js';

export type Incoming =
  | { readonly kind: 'request'; readonly id: unknown; readonly method: string; readonly params: unknown }
  | { readonly kind: 'notification'; readonly method: string; readonly params: unknown }
  | { readonly kind: 'answer'; readonly id: unknown; readonly result: unknown; readonly error: unknown };

/** @throws ProtocolError */
export function readMessage(json: unknown): Incoming {
  if (!isRecord(json)) throw new ProtocolError('a message is not an object');
  const { id, method, params, result, error = null } = json;
  if (typeof method === 'string')
    return id === null || id === undefined
      ? { kind: 'notification', method, params }
      : { kind: 'request', id, method, params };
  if (method === undefined && id !== undefined && (result !== undefined || error !== null))
    return { kind: 'answer', id, result, error };
  throw new ProtocolError('a message is neither a request nor an answer');
}

/** The error of an answer: a text, or an object as in RFC 7047, section 3.1. */
export function readError(method: string, error: unknown): RefusedError {
  if (!isRecord(error)) return new RefusedError(method, String(error), undefined);
  const { error: name, details } = error;
  return new RefusedError(method, String(name), typeof details === 'string' ? details : undefined);
}
