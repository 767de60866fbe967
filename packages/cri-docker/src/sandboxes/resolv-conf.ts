import fs from 'node:fs/promises';
import { type DNSConfig, formatResolvConf } from '@podwire/cri';

/**
 * Overwrites the resolv.conf that Docker made for a sandbox. All containers of the pod have this very file bind-mounted, so it
 * is emptied and filled, never replaced; `r+` also means that a missing one is an error and is not made.
 */
export async function rewriteResolvConf(file: string, dns: DNSConfig): Promise<void> {
  const text = formatResolvConf(dns);
  if (text === '') return;
  const handle = await fs.open(file, 'r+');
  try {
    await handle.truncate(0);
    await handle.write(text, 0);
  } finally {
    await handle.close();
  }
}
