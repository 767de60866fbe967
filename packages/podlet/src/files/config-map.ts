import type { ConfigMap, Volume } from '@podwire/pod-spec';
import { hasCode } from '@podwire/linux';
import fs from 'node:fs/promises';
import path from 'node:path';

/** As it stands in a manifest; `binaryData` is base64. */
export type ConfigMapContent = Pick<ConfigMap, 'data' | 'binaryData'>;

/** @returns undefined when there is none of that name */
export type FindConfigMap = (
  namespace: string,
  name: string,
  signal: AbortSignal,
) => Promise<ConfigMapContent | undefined>;

/** A file of a volume; `path` is relative to it. */
export interface ProjectedFile {
  readonly path: string;
  readonly content: Uint8Array;
  readonly mode: number;
}

const defaultMode = 0o644;

/**
 * The files that a volume shows of a ConfigMap: all keys, or those of `items` under their paths.
 * @throws Error in words for people when the ConfigMap or a key is not there and not optional, or a path leads elsewhere
 */
export function projectConfigMap(
  volume: NonNullable<Volume['configMap']>,
  configMap: ConfigMapContent | undefined,
): readonly ProjectedFile[] {
  if (configMap === undefined && volume.optional !== true) {
    throw new Error(`ConfigMap ${volume.name} does not exist`);
  }
  const contents = readContents(configMap);
  const items: readonly Item[] = volume.items ?? [...contents.keys()].map((key) => ({ key, path: key }));
  return items.flatMap((item) => {
    const content = contents.get(item.key);
    if (content === undefined && volume.optional === true) return [];
    if (content === undefined) throw new Error(`ConfigMap ${volume.name} has no key ${item.key}`);
    requireWithin(item.path);
    return [{ path: item.path, content, mode: item.mode ?? volume.defaultMode ?? defaultMode }];
  });
}

type Item = NonNullable<NonNullable<Volume['configMap']>['items']>[number];

function readContents(configMap: ConfigMapContent | undefined): Map<string, Uint8Array> {
  const { data = {}, binaryData = {} } = configMap ?? {};
  const text = Object.entries(data).map(([key, value]) => [key, Buffer.from(value)] as const);
  const binary = Object.entries(binaryData).map(
    ([key, value]) => [key, Buffer.from(value, 'base64')] as const,
  );
  return new Map([...text, ...binary]);
}

/** Names that begin with two dots are how the volume is kept. */
function requireWithin(path: string): void {
  const parts = path.split('/');
  const isWithin = parts.every(
    (part) => part !== '' && part !== '.' && part !== '..' && !part.includes('\0'),
  );
  if (!isWithin || parts[0]!.startsWith('..')) {
    throw new Error(`${JSON.stringify(path)} is no path within a volume`);
  }
}

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
