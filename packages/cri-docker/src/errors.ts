import { type CriCode, CriError } from '@podwire/cri';
import { describeError, PodwireError } from '@podwire/errors';
import { DockerError, DockerTimeoutError, DockerUnreachableError } from './docker/index.js';

/** Everything that a call throws, in the words of the interface; the message has all causes. */
export function toCriError(error: unknown): CriError {
  if (error instanceof CriError) return error;
  return new CriError(codeOf(error), describeError(error), { cause: error });
}

const statusCodes = new Map<number, CriCode>([
  [400, 'INVALID_ARGUMENT'],
  [401, 'UNAUTHENTICATED'],
  [403, 'PERMISSION_DENIED'],
  [404, 'NOT_FOUND'],
  [409, 'FAILED_PRECONDITION'],
]);

function codeOf(error: unknown): CriCode {
  if (error instanceof CriError) return error.code;
  if (error instanceof DockerTimeoutError || isNamed(error, 'TimeoutError')) return 'DEADLINE_EXCEEDED';
  if (error instanceof DockerUnreachableError) return 'UNAVAILABLE';
  if (error instanceof DockerError) return statusCodes.get(error.status) ?? 'UNKNOWN';
  if (error instanceof PodwireError) return error.code === 'NETWORK_NOT_READY' ? 'UNAVAILABLE' : 'UNKNOWN';
  if (isNamed(error, 'AbortError')) return 'CANCELLED';
  const cause = error instanceof Error ? error.cause : undefined;
  return cause === undefined ? 'UNKNOWN' : codeOf(cause);
}

const isNamed = (error: unknown, name: string): boolean => error instanceof Error && error.name === name;

type Method = (...args: never[]) => unknown;

/** Each method of it, rejecting with CriError only. Streams are passed on: they have their own. */
export function withCriErrors<T extends object>(calls: T): T {
  const wrap =
    (method: Method): Method =>
    (...args: never[]) => {
      try {
        const result = method(...args);
        return result instanceof Promise
          ? result.catch((error: unknown) => Promise.reject(toCriError(error)))
          : result;
      } catch (error) {
        return Promise.reject(toCriError(error)); // thrown before the first await
      }
    };
  const entries = Object.entries(calls) as [string, Method][];
  return Object.fromEntries(entries.map(([name, method]) => [name, wrap(method)])) as T;
}
