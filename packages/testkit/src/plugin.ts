import fs from 'node:fs';
import path from 'node:path';
import type { PrivateHost } from './private-host.js';

const repository = path.resolve(import.meta.dirname, '../../../..');

export interface PluginDirectories {
  readonly binDir: string;
  readonly confDir: string;
}

/** Podwire's plugin object for a network configuration, with every capability that it serves. */
export const podwirePlugin = (
  socket: string,
): { readonly type: string } & Readonly<Record<string, unknown>> => ({
  type: 'podwire-cni',
  socket,
  capabilities: { portMappings: true, bandwidth: true, ips: true, mac: true, dns: true },
});

/**
 * Lays the plugin's executable and a network `podwire` into directories of the host, for container runtimes. containerd
 * 1.6 starts `loopback` for every sandbox, so Debian's stands beside it.
 */
export function installPlugin(host: PrivateHost, socket: string): PluginDirectories {
  const binDir = path.join(host.directory, 'bin');
  const confDir = path.join(host.directory, 'net.d');
  fs.mkdirSync(binDir);
  fs.mkdirSync(confDir);
  fs.copyFileSync(path.join(repository, 'bin/podwire-cni'), path.join(binDir, 'podwire-cni'));
  fs.symlinkSync('/usr/lib/cni/loopback', path.join(binDir, 'loopback'));
  const network = { cniVersion: '1.0.0', name: 'podwire', plugins: [podwirePlugin(socket)] };
  fs.writeFileSync(path.join(confDir, '10-podwire.conflist'), JSON.stringify(network));
  return { binDir, confDir };
}
