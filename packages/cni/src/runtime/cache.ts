import fs from 'node:fs/promises';
import path from 'node:path';
import { compact, hasCode, replaceFile } from '@podwire/platform';
import { type CniArgs } from '../args.js';
import { CniError, errorCodes } from '../error.js';
import { parseJson } from '../json.js';
import type { Attachment } from '../request.js';
import { array, type JsonObject, object, optional, required, ShapeError, string } from '../shape.js';

/** Where Go's library keeps its cache unless told otherwise. */
export const defaultCacheDirectory = '/var/lib/cni';

const KIND = 'cniCacheV1';
/** A cached configuration is base64 of up to 1 MiB, beside results and arguments. */
const cacheLimits = { maxBytes: 4 << 20, maxDepth: 40, duplicateKeys: 'last' } as const;

/** One attachment as it was made: all that a DEL, CHECK or GC needs. */
export interface CachedAttachment extends Attachment {
  readonly network: string;
  readonly netns?: string;
  readonly args?: CniArgs;
  readonly capabilityArgs?: JsonObject;
  /** JSON of the network configuration list at the time of ADD. */
  readonly config: string;
  /** Final result of ADD as the last plugin printed it. */
  readonly result?: JsonObject;
}

/** The outcome of reading a cache file. */
export type CacheContent =
  | { readonly kind: 'none' }
  | { readonly kind: 'attachment'; readonly attachment: CachedAttachment }
  /** Written by an old library: the bare result and nothing else. */
  | { readonly kind: 'bare-result'; readonly result: JsonObject }
  | { readonly kind: 'unreadable'; readonly error: CniError };

/** The calls on the file system that the cache makes, for tests with faults. */
export type CacheFiles = Pick<typeof fs, 'mkdir' | 'open' | 'readFile' | 'readdir' | 'rename' | 'unlink'>;

export interface CacheOptions {
  readonly directory?: string;
  /** Wait for the disk (fsync) so that an entry survives a power loss; costs what the disk takes. */
  readonly durable?: boolean;
  readonly files?: CacheFiles;
}

/** A file of the results directory. */
export interface CacheListing {
  readonly file: string;
  readonly content: Exclude<CacheContent, { kind: 'none' }>;
}

/** Files in libcni's format: `<directory>/results/<network>-<containerId>-<interface>`, mode 0600 in 0700. */
export interface ResultCache {
  /** Atomic: the file has the old content or the whole new one, at every moment. @throws CniError code 5 */
  write(attachment: CachedAttachment): Promise<void>;
  read(network: string, attachment: Attachment): Promise<CacheContent>;
  /** A file that is gone already is fine. @throws CniError code 5 */
  remove(network: string, attachment: Attachment): Promise<void>;
  removeFile(file: string): Promise<void>;
  /**
   * All files, by name, or those whose name may be the container's: `a-b` is in `x-a-b-eth0` and in `a-b-c-eth0`, so
   * the content decides. A directory that does not exist has none.
   * @throws CniError code 5 when it cannot be listed.
   */
  list(containerId?: string): Promise<readonly CacheListing[]>;
  /** @throws CniError code 4 when the name would be longer than a file name may be. */
  fileOf(network: string, attachment: Attachment): string;
}

export function createResultCache(options: CacheOptions = {}): ResultCache {
  const directory = path.join(options.directory ?? defaultCacheDirectory, 'results');
  const files = options.files ?? fs;
  const fileOf = (network: string, attachment: Attachment): string =>
    path.join(directory, fileName(network, attachment));

  return {
    fileOf,
    write: async (attachment) =>
      asIoFailure('write', fileOf(attachment.network, attachment), (file) =>
        writeAtomically(files, file, encode(attachment), options.durable ?? true),
      ),
    read: async (network, attachment) => {
      const content = await readContent(files, fileOf(network, attachment));
      return belongsTo(content, network, attachment) ? content : { kind: 'none' };
    },
    remove: async (network, attachment) =>
      asIoFailure('remove', fileOf(network, attachment), (file) => unlink(files, file)),
    removeFile: (file) => asIoFailure('remove', file, () => unlink(files, file)),
    list: (containerId) => asIoFailure('list', directory, () => listDirectory(files, directory, containerId)),
  };
}

function fileName(network: string, { containerId, interfaceName }: Attachment): string {
  const name = `${network}-${containerId}-${interfaceName}`;
  if (Buffer.byteLength(name) <= 255) return name;
  throw new CniError(
    errorCodes.invalidEnvironment,
    'network name, container id and interface name are too long',
    {
      details: `together they name a cache file, which may have 253 bytes without the separators: ${name}`,
    },
  );
}

/** `a-b` + `c` and `a` + `b-c` share a file name; the content tells whose it is. */
function belongsTo(content: CacheContent, network: string, wanted: Attachment): boolean {
  if (content.kind !== 'attachment') return true;
  const { attachment } = content;
  return (
    attachment.network === network &&
    attachment.containerId === wanted.containerId &&
    attachment.interfaceName === wanted.interfaceName
  );
}

/** Keys in the order in which Go's library writes them. */
function encode(attachment: CachedAttachment): string {
  const { args = [], capabilityArgs = {} } = attachment;
  return JSON.stringify(
    compact({
      kind: KIND,
      containerId: attachment.containerId,
      config: Buffer.from(attachment.config).toString('base64'),
      ifName: attachment.interfaceName,
      networkName: attachment.network,
      netns: attachment.netns === '' ? undefined : attachment.netns,
      cniArgs: args.length > 0 ? args : undefined,
      capabilityArgs: Object.keys(capabilityArgs).length > 0 ? capabilityArgs : undefined,
      result: attachment.result,
    }),
  );
}

function decode(bytes: Uint8Array): Exclude<CacheContent, { kind: 'none' | 'unreadable' }> {
  const from = object(parseJson(bytes, 'cached attachment', cacheLimits), '');
  if (from['kind'] !== KIND) return { kind: 'bare-result', result: from };
  return {
    kind: 'attachment',
    attachment: compact({
      containerId: required(from, 'containerId', '', string),
      interfaceName: required(from, 'ifName', '', string),
      network: required(from, 'networkName', '', string),
      netns: optional(from, 'netns', '', string),
      args: optional(from, 'cniArgs', '', array(pair)),
      capabilityArgs: optional(from, 'capabilityArgs', '', object),
      config: Buffer.from(optional(from, 'config', '', string) ?? '', 'base64').toString('utf8'),
      result: optional(from, 'result', '', object),
    }),
  };
}

function pair(value: unknown, at: string): readonly [string, string] {
  const [key, text, ...more] = array(string)(value, at);
  if (key === undefined || text === undefined || more.length > 0)
    throw new ShapeError(at, 'must be a key and a value');
  return [key, text];
}

/** `unreadable` has code 5 when the file could not be read, 6 when what was read is of no use. */
async function readContent(files: CacheFiles, file: string): Promise<CacheContent> {
  try {
    return decode(await files.readFile(file));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException | CniError;
    if (code === 'ENOENT') return { kind: 'none' };
    const kind = typeof code === 'string' ? errorCodes.ioFailure : errorCodes.decodingFailure;
    return {
      kind: 'unreadable',
      error: new CniError(kind, `${file}: ${(error as Error).message}`, { cause: error }),
    };
  }
}

async function listDirectory(
  files: CacheFiles,
  directory: string,
  containerId?: string,
): Promise<readonly CacheListing[]> {
  const listings: CacheListing[] = [];
  for (const name of await namesIn(files, directory)) {
    if (containerId !== undefined && !name.includes(`-${containerId}-`)) continue;
    const file = path.join(directory, name);
    const content = await readContent(files, file);
    if (content.kind !== 'none') listings.push({ file, content });
  }
  return listings;
}

async function namesIn(files: CacheFiles, directory: string): Promise<readonly string[]> {
  try {
    // Names with a dot in front are files being written.
    return (await files.readdir(directory)).filter((name) => !name.startsWith('.')).toSorted();
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  }
}

/**
 * Libcni writes in place, so a power failure leaves files of zero bytes behind (cni #1055); hence the rename. The directory is
 * made only when it turns out to be missing: nearly always it is there.
 */
async function writeAtomically(
  files: CacheFiles,
  file: string,
  content: string,
  durable: boolean,
): Promise<void> {
  const options = { mode: 0o600, durable, fs: files };
  try {
    await replaceFile(file, content, options);
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
    await files.mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
    await replaceFile(file, content, options);
  }
}

async function unlink(files: CacheFiles, file: string): Promise<void> {
  try {
    await files.unlink(file);
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
  }
}

async function asIoFailure<T>(verb: string, file: string, work: (file: string) => Promise<T>): Promise<T> {
  try {
    return await work(file);
  } catch (error) {
    const message = `cannot ${verb} ${file}: ${(error as Error).message}`;
    throw new CniError(errorCodes.ioFailure, message, { cause: error });
  }
}
