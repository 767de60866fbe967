/** Files that all containers of a sandbox get unless a mount replaces them. */
import fs from 'node:fs';
import path from 'node:path';
import { hasCode } from '@podwire/linux';
import type { DNSConfig, PodSandboxConfig } from '@podwire/cri';
import { namespacesOf } from './plan.js';

/** Where each stands in a container, and its name in the sandbox's directory. */
export const sandboxFiles = [
  ['/etc/hosts', 'hosts'],
  ['/etc/resolv.conf', 'resolv.conf'],
  ['/etc/hostname', 'hostname'],
] as const;

export function formatResolvConf({ servers, searches, options }: DNSConfig): string {
  const line = (word: string, values: readonly string[]): string =>
    values.length === 0 ? '' : `${word} ${values.join(' ')}\n`;
  const nameservers = servers.map((server) => `nameserver ${server}\n`);
  return nameservers.join('') + line('search', searches) + line('options', options);
}

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
  const hasDns =
    dnsConfig !== undefined &&
    dnsConfig.servers.length + dnsConfig.searches.length + dnsConfig.options.length > 0;
  const texts: Record<string, string> = {
    hosts: onHost ? hostFile('/etc/hosts') : formatHosts(hostname, addresses),
    'resolv.conf': hasDns ? formatResolvConf(dnsConfig) : hostFile('/etc/resolv.conf'),
    hostname: onHost ? hostFile('/etc/hostname') : `${hostname}\n`,
  };
  for (const [name, text] of Object.entries(texts))
    fs.writeFileSync(path.join(directory, name), text, { mode: 0o644 });
}
