import pino, { type DestinationStream, type Logger } from 'pino';
import { compact } from '@podwire/platform';
import { openLogDestination } from './log-destination.js';

/** The agent's logger: pino's own interface. */
export type Log = Logger;

export interface LogOptions {
  readonly level: string;
  readonly nodeName: string;
  /** Where lines go; by default standard output, or where `openLogDestination` finds that they should. */
  readonly destination?: DestinationStream;
}

/**
 * JSON lines: `time` (RFC 3339), `level` as a word, `node`, `msg`. Errors under `err` carry code, details and causes.
 * Lines are written at once: a line costs some microseconds, and a crash loses none.
 */
export function createLog({ level, nodeName, destination }: LogOptions): Log {
  return pino(
    {
      level,
      base: { node: nodeName },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: describeForLog },
    },
    destination ?? openLogDestination(process.env),
  );
}

/** Code and details of a coded error, message and causes of every error; the stack only where it is a defect. */
function describeForLog(error: unknown): unknown {
  if (!(error instanceof Error)) return { message: String(error) };
  const { code, details } = error as { code?: unknown; details?: unknown };
  const isCoded = code !== undefined && code !== 'INTERNAL';
  return {
    type: error.name,
    message: error.message,
    ...compact({ code, details }),
    ...(isCoded ? {} : { stack: error.stack }),
    ...(error instanceof AggregateError ? { errors: error.errors.map(describeForLog) } : {}),
    ...(error.cause === undefined ? {} : { cause: describeForLog(error.cause) }),
  };
}
