import { CriError } from '@podwire/cri';

/** The parts of CRI's ExecRequest that the streaming server needs. */
export interface StreamingExecRequest {
  readonly containerId: string;
  readonly cmd: readonly string[];
  readonly tty: boolean;
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
}

/** The parts of CRI's AttachRequest. */
export type StreamingAttachRequest = Omit<StreamingExecRequest, 'cmd'>;

/** The parts of CRI's PortForwardRequest. The ports count for WebSocket only; over SPDY every stream names its own. */
export interface StreamingPortForwardRequest {
  readonly podSandboxId: string;
  readonly port: readonly number[];
}

/** The request that a token stands for. */
export type StreamingRequest =
  | { readonly kind: 'exec'; readonly request: StreamingExecRequest }
  | { readonly kind: 'attach'; readonly request: StreamingAttachRequest }
  | { readonly kind: 'portforward'; readonly request: StreamingPortForwardRequest };

/** @throws CriError INVALID_ARGUMENT, for the same requests as the kubelet's streaming server */
export function checkRequest({ kind, request }: StreamingRequest): void {
  if (kind === 'portforward') {
    if (request.podSandboxId === '') throw invalid('pod_sandbox_id is missing');
    for (const port of request.port) {
      if (!Number.isInteger(port) || port < 1 || port > 65_535) throw invalid(`${port} is no port`);
    }
    return;
  }
  if (request.containerId === '') throw invalid('container_id is missing');
  if (request.tty && request.stderr)
    throw invalid('a terminal has no stderr of its own: tty and stderr exclude each other');
  if (!request.stdin && !request.stdout && !request.stderr) {
    throw invalid('one of stdin, stdout and stderr is needed');
  }
}

function invalid(message: string): CriError {
  return new CriError('INVALID_ARGUMENT', message);
}
