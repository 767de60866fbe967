import { describeError, errorCatalogue, type ErrorCode, PodwireError } from '@podwire/errors';
import { compact } from '@podwire/platform';
import { ApiError, type Failure } from '@podwire/local-api';
import { colorsFor, exitCodes, type Io, printable, writeJson } from './io.js';

export type StopSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP' | 'SIGPIPE';

/** Asked to stop by a signal, after everything was put away. */
export class InterruptedError extends Error {
  readonly signal: StopSignal;

  constructor(signal: StopSignal) {
    super(`stopped by ${signal}`);
    this.name = 'InterruptedError';
    this.signal = signal;
  }
}

export function describeFailure(error: unknown): Failure {
  if (error instanceof ApiError) return error.failure;
  if (error instanceof PodwireError) {
    const { code, action, details } = error;
    const message = describeError(error);
    return {
      ...{ code, message, ...compact({ action }) },
      ...(Object.keys(details).length === 0 ? {} : { details }),
    };
  }
  if (error instanceof InterruptedError) return { code: 'INTERRUPTED', message: error.message };
  return describeCniError(error) ?? describeCriError(error) ?? describeDefect(error);
}

/** Recognized by its name, so that the library is not loaded for this alone. */
function describeCniError(error: unknown): Failure | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, details } = error as { code?: unknown; details?: unknown };
  if (typeof code !== 'number' || !('cniVersion' in error)) return undefined;
  return {
    code: `CNI_${code}`,
    message: error.message,
    ...(typeof details === 'string' && details !== '' ? { details } : {}),
  };
}

/** The error that a container runtime answered; recognized by its name, as above. */
function describeCriError(error: unknown): Failure | undefined {
  if (!(error instanceof Error) || error.name !== 'CriError') return undefined;
  return { code: `CRI_${(error as Error & { code: string }).code}`, message: error.message };
}

function describeDefect(error: unknown): Failure {
  return { code: 'INTERNAL', message: describeError(error), action: errorCatalogue.INTERNAL.action };
}

export function exitCodeOf(error: unknown): number {
  if (error instanceof InterruptedError) return exitCodes[error.signal];
  const silent: readonly ErrorCode[] = ['AGENT_UNREACHABLE', 'PODLET_UNREACHABLE', 'STORE_UNAVAILABLE'];
  if (error instanceof PodwireError && silent.includes(error.code)) return exitCodes.unreachable;
  return exitCodes.failed;
}

/** Tells what went wrong: JSON on standard output for programs, words on standard error for people. */
export function reportFailure(
  io: Io,
  error: unknown,
  { json, debug }: { json: boolean; debug: boolean },
): void {
  const failure = describeFailure(error);
  if (json) writeJson(io, { error: failure });
  else io.stderr.write(`${renderFailure(io, failure).join('\n')}\n`);
  if (debug && error instanceof Error) io.stderr.write(`${error.stack ?? error.message}\n`);
}

function renderFailure(io: Io, { code, message, action }: Failure): string[] {
  const paint = colorsFor(io, io.stderr);
  const [first = '', ...more] = printable(message).split('\n');
  return [
    `${paint.red('error:')} ${first}`,
    ...more.map((line) => `       ${line}`),
    ...(action === undefined ? [] : [`${paint.bold('what to do:')} ${printable(action)}`]),
    paint.dim(`code: ${code}`),
  ];
}
