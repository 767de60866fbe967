/**
 * How a program's end travels on the error stream: since protocol v4 as the JSON of Kubernetes' metav1.Status, before that as
 * plain text when something failed and as nothing when not.
 */

/** How a call ended: an exit code, or why there is none. */
export type CallResult = { readonly exitCode: number } | { readonly message: string };

/** Reports if the protocol's error stream carries a Status. `''` is a WebSocket client that asked for no protocol. */
export function carriesStatus(protocol: string): boolean {
  return protocol.startsWith('v4.') || protocol.startsWith('v5.');
}

/** @returns what to write to the error stream; nothing at all may be right */
export function encodeResult(result: CallResult, protocol: string): Buffer {
  if (!carriesStatus(protocol)) return Buffer.from(failureText(result) ?? '', 'utf8');
  return Buffer.from(JSON.stringify({ metadata: {}, ...statusOf(result) }), 'utf8');
}

/** @throws Error where a v4 message is no Status, or one without the exit code it speaks of */
export function decodeResult(message: Buffer, protocol: string): CallResult {
  const text = message.toString('utf8');
  if (!carriesStatus(protocol)) return text === '' ? { exitCode: 0 } : { message: text };
  const status = parseStatus(text);
  if (status.status === 'Success') return { exitCode: 0 };
  if (status.status !== 'Failure') throw new Error(`no status on the error stream: ${text.slice(0, 200)}`);
  if (status.reason !== nonZeroExitCode) return { message: status.message ?? 'failed for no stated reason' };
  const cause = status.details?.causes?.find(({ reason }) => reason === exitCodeCause);
  if (!/^\d{1,3}$/.test(cause?.message ?? '')) throw new Error('the status has no exit code');
  return { exitCode: Number(cause?.message) };
}

const nonZeroExitCode = 'NonZeroExitCode';
const exitCodeCause = 'ExitCode';

interface Status {
  readonly status?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly details?: { readonly causes?: readonly { readonly reason?: string; readonly message?: string }[] };
}

function statusOf(result: CallResult): Status & { readonly code?: number } {
  if (!('exitCode' in result)) {
    return {
      status: 'Failure',
      message: `Internal error occurred: ${result.message}`,
      reason: 'InternalError',
      code: 500,
    };
  }
  if (result.exitCode === 0) return { status: 'Success' };
  return {
    status: 'Failure',
    message: failureText(result)!,
    reason: nonZeroExitCode,
    details: { causes: [{ reason: exitCodeCause, message: String(result.exitCode) }] },
  };
}

function failureText(result: CallResult): string | undefined {
  if (!('exitCode' in result)) return result.message;
  if (result.exitCode === 0) return undefined;
  return `command terminated with non-zero exit code: exit status ${result.exitCode}`;
}

function parseStatus(text: string): Status {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // told below
  }
  throw new Error(`no status on the error stream: ${text.slice(0, 200)}`);
}
