#!/usr/bin/env node
// Hands out the addresses of one /24, a file for each. Runs first in a list, or as another plugin's "ipam".
import fs from 'node:fs';
import path from 'node:path';
import { type Attachment, CniError, errorCodes, type RequestConfig, runPlugin } from '@podwire/cni';

interface Lease {
  readonly file: string;
  readonly owner: string;
}

function openPool({ config }: { readonly config: RequestConfig }) {
  const { directory, prefix } = config.ipam ?? config;
  if (typeof directory !== 'string' || typeof prefix !== 'string' || !/^\d+\.\d+\.\d+$/.test(prefix))
    throw new CniError(errorCodes.invalidNetworkConfig, 'pool needs "directory" and "prefix", as 10.1.2');
  const folder = path.join(directory, config.name);
  fs.mkdirSync(folder, { recursive: true });
  const files = fs.readdirSync(folder).map((ip) => path.join(folder, ip));
  const leases = files.map((file): Lease => ({ file, owner: fs.readFileSync(file, 'utf8') }));
  return { folder, prefix, leases };
}

const ownerOf = ({ containerId, interfaceName }: Attachment) => `${containerId} ${interfaceName}`;
const freeAll = (leases: readonly Lease[]) => leases.forEach(({ file }) => fs.rmSync(file, { force: true }));

/** False when another process was quicker. */
function take(file: string, owner: string): boolean {
  try {
    fs.writeFileSync(file, owner, { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

await runPlugin({
  about: 'pool: addresses of one /24; an example of @podwire/cni',
  add(request) {
    const { folder, prefix } = openPool(request);
    for (let host = 2; host < 255; host++) {
      if (!take(path.join(folder, `${prefix}.${host}`), ownerOf(request))) continue;
      const ips = [{ address: `${prefix}.${host}/24`, gateway: `${prefix}.1` }];
      return { cniVersion: '1.1.0', ips, routes: [{ dst: '0.0.0.0/0' }] };
    }
    throw new CniError(errorCodes.tryAgainLater, `no free address in ${prefix}.0/24`);
  },
  del(request) {
    freeAll(openPool(request).leases.filter(({ owner }) => owner === ownerOf(request)));
  },
  check(request) {
    if (!openPool(request).leases.some(({ owner }) => owner === ownerOf(request)))
      throw new CniError(100, 'the address is not ours any more');
  },
  gc(request) {
    const valid = (request.validAttachments ?? []).map(ownerOf);
    freeAll(openPool(request).leases.filter(({ owner }) => !valid.includes(owner)));
  },
  status(request) {
    if (openPool(request).leases.length >= 253)
      throw new CniError(errorCodes.notAvailable, 'no free address is left');
  },
});
