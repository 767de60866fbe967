import { hasCode } from '@podwire/linux';
import fs from 'node:fs/promises';
import { parseResolvConf } from '../wishes/resolv-conf.js';

export interface ResolvConfPlaces {
  readonly usual: string;
  /** Where systemd-resolved writes the servers that it asks itself. */
  readonly upstream: string;
}

const places: ResolvConfPlaces = {
  usual: '/etc/resolv.conf',
  upstream: '/run/systemd/resolve/resolv.conf',
};

/**
 * The resolv.conf that pods may have. Where the usual one names only the machine's own loopback, on which systemd-resolved listens,
 * nobody answers in a pod: then it is the one with the servers behind it.
 */
export async function resolvConfFile({ usual, upstream }: ResolvConfPlaces = places): Promise<string> {
  const { servers } = parseResolvConf(await readIfThere(usual));
  const isStub = servers.length > 0 && servers.every(isLoopback);
  if (!isStub) return usual;
  return parseResolvConf(await readIfThere(upstream)).servers.length > 0 ? upstream : usual;
}

function isLoopback(server: string): boolean {
  return server.startsWith('127.') || server === '::1';
}

/** @returns empty text when the machine has no such file */
export async function readIfThere(file: string): Promise<string> {
  try {
    return await fs.readFile(file, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return '';
    throw error;
  }
}
