import { hasCode } from '@podwire/linux';
import fs from 'node:fs/promises';
import path from 'node:path';
import type { ConfigMapContent } from './config-map.js';

/** No ConfigMap of Kubernetes is larger. */
const largest = 1024 * 1024;

/**
 * Takes a directory for a ConfigMap: each file is a key. Hidden files and directories are passed over; content that is no UTF-8 is
 * binary. @returns undefined when there is no such directory. @throws Error when it is larger than a ConfigMap may be
 */
export async function readConfigMapDirectory(directory: string): Promise<ConfigMapContent | undefined> {
  const names = await listIfThere(directory);
  if (names === undefined) return undefined;
  const data: Record<string, string> = {};
  const binaryData: Record<string, string> = {};
  let size = 0;
  for (const name of names) {
    const content = await readRegular(path.join(directory, name), largest - size);
    if (content === undefined) continue;
    size += content.length;
    const text = content.toString('utf8');
    if (Buffer.from(text).equals(content)) data[name] = text;
    else binaryData[name] = content.toString('base64');
  }
  return { data, binaryData };
}

async function listIfThere(directory: string): Promise<string[] | undefined> {
  try {
    const names = await fs.readdir(directory);
    return names.filter((name) => /^(?!\.)[-._a-zA-Z0-9]+$/.test(name)).sort();
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined;
    throw error;
  }
}

async function readRegular(file: string, most: number): Promise<Buffer | undefined> {
  const stats = await fs.stat(file);
  if (!stats.isFile()) return undefined;
  if (stats.size > most) throw new Error(`${file}: together with the others larger than ${largest} bytes`);
  return fs.readFile(file);
}
