/** HTTP for people's tools: on a unix socket with everything, and optionally on loopback with health and metrics. */
import type { Socket } from 'node:net';
import { CniError } from '@podwire/cni';
import { describeError, type ErrorCode, PodwireError } from '@podwire/errors';
import { compact } from '@podwire/platform';
import type { PeerCredentials } from '@podwire/linux';
import {
  type ApiFailure,
  type ApiRoutes,
  type ApiServer,
  type ApiServerOptions,
  serveOnPort,
  serveOnSocket,
} from '@podwire/local-api';
import { asPodwireError } from '../errors.js';
import { type ApiContext, apiRoutes, openRoutes } from './routes.js';

/** Serves all routes on a unix socket that only root and the agent's own user may use. @throws as listenPrivately */
export async function startApiServer(
  file: string,
  api: ApiContext,
  peerCredentials: (socket: Socket) => PeerCredentials | undefined,
): Promise<ApiServer> {
  return serveOnSocket(file, peerCredentials, optionsOf(api, apiRoutes));
}

/** Serves health and metrics on a loopback port. @throws PodwireError CONFIG_INVALID when the port cannot be had */
export async function startMetricsServer(
  listen: { host: string; port: number },
  api: ApiContext,
): Promise<ApiServer> {
  try {
    return await serveOnPort(listen, optionsOf(api, openRoutes));
  } catch (cause) {
    throw new PodwireError('CONFIG_INVALID', 'metrics.listen: nothing can listen there', { cause });
  }
}

function optionsOf(api: ApiContext, routes: ApiRoutes<ApiContext>): ApiServerOptions<ApiContext> {
  const { log } = api.context;
  return {
    context: api,
    routes,
    describeFailure: (error) => describeFailure(api, error),
    onBroken: (err) => log.debug({ err }, 'an API request ended early'),
  };
}

const statusOf: Partial<Record<ErrorCode, number>> = {
  ENDPOINT_UNKNOWN: 404,
  TRACE_UNKNOWN: 404,
  REQUEST_INVALID: 400,
  CONFIG_INVALID: 400,
  ADDRESS_IN_USE: 409,
  ADDRESS_NOT_IN_POOL: 409,
  POOL_EXHAUSTED: 409,
  PORT_IN_USE: 409,
  AGENT_NOT_READY: 503,
  DEADLINE_EXCEEDED: 504,
};

function describeFailure({ context }: ApiContext, error: unknown): ApiFailure {
  if (error instanceof CniError) {
    return { status: 400, error: { cni: error.code, message: error.message, details: error.details } };
  }
  const { code, action, ...coded } = asPodwireError(error);
  if (code === 'INTERNAL') context.log.error({ err: error }, 'API request failed');
  const shown = { code, message: describeError(error), ...compact({ action }), ...pickDetails(coded) };
  return { status: statusOf[code] ?? 500, error: shown };
}

function pickDetails({ details }: { details: object }): object {
  return Object.keys(details).length === 0 ? {} : { details };
}
