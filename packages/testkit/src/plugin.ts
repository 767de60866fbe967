import fs from 'node:fs';
import path from 'node:path';
import type { PrivateHost } from './private-host.js';
import { repository } from './repository.js';

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
 * Installs the plugin and the network `podwire` for a container runtime of the host, with `podwire install`; done again
 * with another kind it replaces the executable. containerd 1.6 starts `loopback` for every sandbox, so Debian's stands
 * beside it.
 */
export async function installPlugin(
  host: PrivateHost,
  socket: string,
  kind: 'auto' | 'c' | 'js' = 'auto',
): Promise<PluginDirectories> {
  const binDir = path.join(host.directory, 'bin');
  const confDir = path.join(host.directory, 'net.d');
  const places = ['--cni-bin-dir', binDir, '--cni-conf-dir', confDir];
  const podwire = [process.execPath, path.join(repository, 'bin/podwire')];
  await host.run([...podwire, 'install', ...places, '--cni-socket', socket, '--plugin', kind]);
  const loopback = path.join(binDir, 'loopback');
  if (!fs.existsSync(loopback)) fs.symlinkSync('/usr/lib/cni/loopback', loopback);
  return { binDir, confDir };
}
