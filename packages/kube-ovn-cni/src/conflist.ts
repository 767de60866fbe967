/** The network configuration of Kube-OVN. Runtimes take it for "ready", so it is written last of all. */
import fs from 'node:fs';
import path from 'node:path';
import { describeError, PodwireError } from '@podwire/errors';
import { readIfExistsSync, replaceFileSync } from '@podwire/platform';

/** Its name in `/etc/cni/net.d`. */
export const conflistName = '01-kube-ovn.conflist';
export const conflistMode = 0o444;

/** Where the plugin asks, unless a configuration says otherwise. */
export const defaultSocket = '/run/openvswitch/kube-ovn-daemon.sock';

/** The bytes of the file as the original has it: the plugin, and `portmap` behind it. */
export function renderConflist(socketPath: string = defaultSocket): string {
  return `{
    "name":"kube-ovn",
    "cniVersion":"0.3.1",
    "plugins":[
        {
            "type":"kube-ovn",
            "server_socket":${JSON.stringify(socketPath)}
        },
        {
            "type":"portmap",
            "capabilities":{
                "portMappings":true
            }
        }
    ]
}
`;
}

/** Makes the directory where it is missing, and replaces the file as a whole. @throws PodwireError CONFIG_INVALID */
export function writeConflist(directory: string, socketPath: string): void {
  const file = path.join(directory, conflistName);
  attempt(`cannot write ${file}`, () => {
    fs.mkdirSync(directory, { recursive: true });
    replaceFileSync(file, renderConflist(socketPath), { mode: conflistMode, flush: true });
  });
}

/**
 * Removes the file if it is ours: one with our bytes and our socket, on which no other process can listen.
 * @returns what was done: `kept` is a file of others
 * @throws PodwireError CONFIG_INVALID
 */
export function removeConflist(directory: string, socketPath: string): 'removed' | 'absent' | 'kept' {
  const file = path.join(directory, conflistName);
  return attempt(`cannot remove ${file}`, () => {
    const text = readIfExistsSync(file);
    if (text === undefined) return 'absent';
    if (text !== renderConflist(socketPath)) return 'kept';
    fs.rmSync(file, { force: true });
    return 'removed';
  });
}

function attempt<T>(what: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw new PodwireError('CONFIG_INVALID', `${what}: ${describeError(cause)}`, { cause });
  }
}
