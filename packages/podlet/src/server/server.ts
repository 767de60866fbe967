/** The pod agent's own API on a unix socket. */
import type { Socket } from 'node:net';
import { describeError, type ErrorCode, PodwireError } from '@podwire/errors';
import { type ApiFailure, type ApiServer, serveOnSocket } from '@podwire/local-api';
import type { PeerCredentials } from '@podwire/linux';
import { compact } from '@podwire/platform';
import type { PodletApi } from './api.js';
import { podletRoutes } from './routes.js';

export interface PodletServerOptions {
  /** Path of the socket. */
  readonly socket: string;
  readonly peerCredentials: (socket: Socket) => PeerCredentials | undefined;
  /** Told of requests that could not be answered. */
  readonly onBroken: (error: unknown) => void;
}

/** @throws PodwireError AGENT_RUNNING, CONFIG_INVALID */
export function startPodletServer(api: PodletApi, options: PodletServerOptions): Promise<ApiServer> {
  const { socket, peerCredentials, onBroken } = options;
  return serveOnSocket(socket, peerCredentials, {
    context: api,
    routes: podletRoutes,
    describeFailure,
    onBroken,
  });
}

const statusOf: Partial<Record<ErrorCode, number>> = {
  POD_UNKNOWN: 404,
  POD_NOT_RUNNING: 409,
  REQUEST_INVALID: 400,
  CONFIG_INVALID: 400,
  DEADLINE_EXCEEDED: 504,
};

/** Errors of the runtime come as they are: their words name the container. */
function describeFailure(error: unknown): ApiFailure {
  if (!(error instanceof PodwireError)) {
    return { status: 500, error: { code: 'RUNTIME_FAILED', message: describeError(error) } };
  }
  const { code, action } = error;
  return {
    status: statusOf[code] ?? 500,
    error: { code, message: describeError(error), ...compact({ action }) },
  };
}
