/** Where the agent listens for people: `--socket`, `--config`, `PODWIRE_SOCKET`, in `PODWIRE_DIRECTORY`, or the place of the defaults. */
import { type ApiPeer, type LocalApi, openLocalApi } from '@podwire/local-api';
import type { Command } from 'commander';
import { optionsOf } from '../command.js';
import type { Io } from '../io.js';
import { placesIn } from '../pods/locate.js';

/** The node agent, as a server to ask. */
const agentPeer: ApiPeer = { name: 'agent', unreachable: 'AGENT_UNREACHABLE' };

export function openAgentApi(options: { socket: string; timeout?: number; signal?: AbortSignal }): LocalApi {
  return openLocalApi({ ...options, peer: agentPeer });
}

export const defaultApiSocket = '/run/podwire/api.sock';

/** @throws PodwireError CONFIG_INVALID for a configuration that cannot be read */
export async function locateAgent(command: Command, io: Io): Promise<string> {
  const { socket, config } = optionsOf(command) as { socket?: string; config?: string };
  if (socket !== undefined) return socket;
  if (config !== undefined) {
    const { loadConfig } = await import('@podwire/agent');
    return loadConfig(config).apiSocket;
  }
  const directory = io.env['PODWIRE_DIRECTORY'];
  return io.env['PODWIRE_SOCKET'] || (directory ? placesIn(directory).agentApi : defaultApiSocket);
}

export async function openLocatedApi(
  command: Command,
  io: Io,
  options: { timeout?: number; signal?: AbortSignal } = {},
): Promise<LocalApi> {
  return openAgentApi({ socket: await locateAgent(command, io), ...options });
}
