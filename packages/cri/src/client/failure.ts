import { criCodes, CriError, type CriCode } from '../error.js';

const names = new Map<number, CriCode>(
  Object.entries(criCodes).map(([name, number]) => [number, name as CriCode]),
);

/** The name of a gRPC status; those that the interface does not use are UNKNOWN. */
export const codeName = (status: number): CriCode => names.get(status) ?? 'UNKNOWN';

interface StatusLike {
  readonly code?: unknown;
  readonly details?: unknown;
}

/** The error of a call: `RunPodSandbox on /run/x.sock: no such handler`, with the code of the gRPC status. */
export function toCriError(rpc: string, socket: string, cause: unknown): CriError {
  const { code, details } = (cause ?? {}) as StatusLike;
  const text = typeof details === 'string' && details !== '' ? details : describe(cause);
  const name = typeof code === 'number' ? codeName(code) : 'INTERNAL';
  return new CriError(name, `${rpc} on ${socket}: ${text}`, { cause });
}

const describe = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));

/** A call that its own caller has ended. */
export function cancelledCall(rpc: string, socket: string, signal: AbortSignal): CriError {
  return new CriError('CANCELLED', `${rpc} on ${socket}: the caller has given up`, { cause: signal.reason });
}
