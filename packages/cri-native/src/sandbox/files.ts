/** Files that all containers of a sandbox get unless a mount replaces them. */
import fs from 'node:fs';
import path from 'node:path';
import { hasCode } from '@podwire/linux';
import { formatResolvConf, type PodSandboxConfig } from '@podwire/cri';
import { namespacesOf } from './plan.js';

/** The path of each file in a container, and its name in the sandbox's directory. */
export const sandboxFiles = [
  ['/etc/hosts', 'hosts'],
  ['/etc/resolv.conf', 'resolv.conf'],
  ['/etc/hostname', 'hostname'],
] as const;

export function formatHosts(hostname: string, addresses: readonly string[]): string {
  const fixed = ['127.0.0.1\tlocalhost', '::1\tlocalhost ip6-localhost ip6-loopback'];
  const own = hostname === '' ? [] : addresses.map((address) => `${address}\t${hostname}`);
  return [...fixed, ...own, ''].join('\n');
}

/** The host's own file; empty where it has none. */
function hostFile(file: string): string {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return '';
    throw error;
  }
}

export function writeSandboxFiles(
  directory: string,
  config: PodSandboxConfig,
  addresses: readonly string[],
): void {
  const { dnsConfig, hostname } = config;
  const onHost = namespacesOf(config).network === 'host';
  const resolvConf = dnsConfig === undefined ? '' : formatResolvConf(dnsConfig);
  const texts: Record<string, string> = {
    hosts: onHost ? hostFile('/etc/hosts') : formatHosts(hostname, addresses),
    'resolv.conf': resolvConf === '' ? hostFile('/etc/resolv.conf') : resolvConf,
    hostname: onHost ? hostFile('/etc/hostname') : `${hostname}\n`,
  };
  for (const [name, text] of Object.entries(texts))
    fs.writeFileSync(path.join(directory, name), text, { mode: 0o644 });
}
