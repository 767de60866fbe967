import { ifExists, readIfExists } from '@podwire/platform';
import fs from 'node:fs/promises';
import path from 'node:path';
import type { Pod } from '@podwire/pod-spec';
import { podDomain, podHostname } from '../runtime-config/sandbox-config.js';

const header = '# Written by Podwire when the pod starts; changes by hand are lost then.';

const loopback = [
  '127.0.0.1\tlocalhost',
  '::1\tlocalhost ip6-localhost ip6-loopback',
  'fe00::0\tip6-localnet',
  'ff00::0\tip6-mcastprefix',
  'ff02::1\tip6-allnodes',
  'ff02::2\tip6-allrouters',
];

/** The content of a pod's /etc/hosts. @param nodeHosts the node's own, which a pod on the host's network gets */
export function buildHosts(
  pod: Pod,
  addresses: readonly string[],
  clusterDomain: string,
  nodeHosts: string,
): string {
  const own = pod.spec.hostNetwork ? [nodeHosts.trimEnd()] : podLines(pod, addresses, clusterDomain);
  return `${[header, ...own, ...aliasLines(pod)].join('\n')}\n`;
}

function podLines(pod: Pod, addresses: readonly string[], clusterDomain: string): string[] {
  const hostname = podHostname(pod);
  const domain = podDomain(pod, clusterDomain);
  const names = domain === undefined ? hostname : `${hostname}.${domain}\t${hostname}`;
  return [...loopback, ...addresses.map((address) => `${address}\t${names}`)];
}

function aliasLines({ spec }: Pod): string[] {
  if (spec.hostAliases.length === 0) return [];
  return ['', '# hostAliases', ...spec.hostAliases.map(({ ip, hostnames }) => [ip, ...hostnames].join('\t'))];
}

/**
 * Writes into the file that is there, since containers have just this file mounted: a new one under its name they would never see.
 * The old end is cut off last, so that a reader finds a name at any time.
 */
export async function writeInPlace(file: string, content: string): Promise<void> {
  if ((await readIfExists(file)) === content) return;
  await fs.mkdir(path.dirname(file), { recursive: true, mode: 0o750 });
  const handle = await openOrCreate(file);
  try {
    const bytes = Buffer.from(content);
    await handle.write(bytes, 0, bytes.length, 0);
    await handle.truncate(bytes.length);
    await handle.chmod(0o644);
  } finally {
    await handle.close();
  }
}

async function openOrCreate(file: string): Promise<fs.FileHandle> {
  return (await ifExists(fs.open(file, 'r+'))) ?? fs.open(file, 'wx', 0o644);
}
