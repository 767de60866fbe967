import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** The real thing's version; `npm run test:kubernetes` builds it from Debian's source package where it is missing. */
export const kubernetesVersion = '1.20.2';

/** @throws Error that says how to get it */
export function kubernetesProgram(name: 'kubelet' | 'kube-apiserver'): string {
  const cache = process.env['XDG_CACHE_HOME'] || path.join(os.homedir(), '.cache');
  const directory =
    process.env['PODWIRE_KUBERNETES'] ?? path.join(cache, 'podwire', `kubernetes-${kubernetesVersion}`);
  const file = path.join(directory, name);
  if (!fs.existsSync(file)) throw new Error(`${name} is missing; npm run test:kubernetes builds it`);
  return file;
}
