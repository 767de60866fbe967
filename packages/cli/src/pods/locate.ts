/**
 * Where the pod agent of this machine is: one directory holds its socket and what `podwire up` started. What must outlive the boot is
 * in the same directory, unless that is the default one, which is emptied by a reboot.
 */
import path from 'node:path';
import { type ApiPeer, type LocalApi, openLocalApi } from '@podwire/local-api';
import { type Command, Option } from 'commander';
import { optionsOf } from '../command.js';
import type { Io } from '../io.js';

export const defaultDirectory = '/run/podwire';
const defaultStateDirectory = '/var/lib/podwire';
/** Where log collectors look. */
export const kubeletLogs = '/var/log/pods';
export const kubeletLogLinks = '/var/log/containers';

const podAgent: ApiPeer = { name: 'pod agent', unreachable: 'PODLET_UNREACHABLE' };

/** The option of all commands that are about pods. */
export function addDirectory(command: Command): Command {
  return command.addOption(
    new Option(
      '--directory <dir>',
      `where the pod agent lives (default: $PODWIRE_DIRECTORY or ${defaultDirectory})`,
    ).helpGroup('Common options:'),
  );
}

export function locateDirectory(command: Command, io: Io): string {
  const { directory } = optionsOf(command) as { directory?: string };
  return path.resolve(directory ?? (io.env['PODWIRE_DIRECTORY'] || defaultDirectory));
}

/** Everything below the directory that more than one command needs to know. */
export function placesIn(directory: string) {
  const at = (name: string): string => path.join(directory, name);
  const isDefault = directory === defaultDirectory;
  const kept = (name: string): string => path.join(isDefault ? defaultStateDirectory : directory, name);
  return {
    directory,
    podSocket: at('podlet.sock'),
    podletState: kept('podlet'),
    /** Where it was up to version 0.1.0. */
    ...(isDefault ? { earlierPodletState: at('podlet') } : {}),
    networkState: kept('network'),
    podletLog: at('podlet.log'),
    agentConfig: at('agent.yaml'),
    agentSocket: at('cni.sock'),
    agentApi: at('api.sock'),
    agentLog: at('agent.log'),
    networkConfig: at('cni/net.d'),
    started: at('started.json'),
    startLock: at('start.lock'),
    embedded: at('embedded'),
    podLogs: isDefault ? kubeletLogs : at('logs'),
  } as const;
}

/** Directories that agents of the directory may make. */
export function directoriesOf(directory: string): string[] {
  const outside = [defaultStateDirectory, kubeletLogs, kubeletLogLinks];
  return directory === defaultDirectory ? [directory, ...outside] : [directory];
}

export type Places = ReturnType<typeof placesIn>;

export function openPodApi(
  socket: string,
  options: { timeout?: number; signal?: AbortSignal } = {},
): LocalApi {
  return openLocalApi({ socket, peer: podAgent, ...options });
}

export function openLocatedPodApi(command: Command, io: Io): LocalApi {
  return openPodApi(placesIn(locateDirectory(command, io)).podSocket);
}
