import fs from 'node:fs/promises';
import type { DNSConfig } from '@podwire/cri';

/** The text for a DNS configuration, or undefined when it asks for nothing (resolv.conf(5)). */
export function renderResolvConf({ servers, searches, options }: DNSConfig): string | undefined {
  const lines = [
    ...servers.map((server) => `nameserver ${server}`),
    ...(searches.length === 0 ? [] : [`search ${searches.join(' ')}`]),
    ...(options.length === 0 ? [] : [`options ${options.join(' ')}`]),
  ];
  return lines.length === 0 ? undefined : `${lines.join('\n')}\n`;
}

/**
 * Overwrites the resolv.conf that Docker made for a sandbox. All containers of the pod have this very file bind-mounted, so it
 * is emptied and filled, never replaced; `r+` also means that a missing one is an error and is not made.
 */
export async function rewriteResolvConf(file: string, dns: DNSConfig): Promise<void> {
  const text = renderResolvConf(dns);
  if (text === undefined) return;
  const handle = await fs.open(file, 'r+');
  try {
    await handle.truncate(0);
    await handle.write(text, 0);
  } finally {
    await handle.close();
  }
}
