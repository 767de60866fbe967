/**
 * Small JSON documents that outlive a crash: one file per key, whole or not there at all, with a checksum. What the pod
 * agent and the sandbox service keep of their pods lies in such directories; the layout is that of kubelet's checkpoints.
 */
import nodeFs from 'node:fs/promises';
import path from 'node:path';
import { hasCode, readIfExists, replaceFile } from '@podwire/platform';

/** The part of `node:fs/promises` that is needed; tests pass one that fails like a full disk. */
export type CheckpointFiles = Pick<
  typeof nodeFs,
  'mkdir' | 'open' | 'readdir' | 'readFile' | 'rename' | 'unlink'
>;

export type CheckpointReading<T> =
  | { readonly state: 'found'; readonly data: T }
  | { readonly state: 'missing' }
  /** The file is there, but is no JSON, lacks a part, or does not match its checksum. */
  | { readonly state: 'corrupt'; readonly reason: string };

/** Rejections are those of the file system; callers translate them. Calls for one key must be serial. */
export interface CheckpointStore<T> {
  /** Writes or replaces. When it resolves, the data survives a power failure. */
  write(key: string, data: T): Promise<void>;
  read(key: string): Promise<CheckpointReading<T>>;
  /** A missing file is no error. */
  remove(key: string): Promise<void>;
  /** Moves a file to `<directory>.unreadable/<key>` for inspection. @returns the new path */
  setAside(key: string): Promise<string>;
  /** Sorted. Half-written files of a crash are left out. */
  keys(): Promise<readonly string[]>;
}

export interface CheckpointOptions {
  /** Names of the two fields of a file; `data` and `checksum`. */
  readonly dataField?: string;
  readonly checksumField?: string;
  /**
   * Fields of the data that a file has at its top, beside the others and outside of the checksum, in this order. A
   * sandbox's checkpoint has its version and its pod's name there.
   */
  readonly header?: readonly string[];
  /** Of the data as JSON has it. The first one is written, any one is good. The text of the JSON, hashed, when absent. */
  readonly checksums?: readonly Checksum[];
  readonly fs?: CheckpointFiles;
}

export type Checksum = (data: unknown) => number;

/** Over the data as JSON.stringify writes it, which reading and writing again does not change. */
export const jsonChecksum: Checksum = (data) => fnv32a(JSON.stringify(data));

/** Opens a store; the directory is made (mode 0700) by the first write. Keys are file names and do not begin with a dot. */
export function createCheckpointStore<T>(
  directory: string,
  options: CheckpointOptions = {},
): CheckpointStore<T> {
  const { fs = nodeFs } = options;
  const layout: Layout = {
    dataField: 'data',
    checksumField: 'checksum',
    header: [],
    checksums: [jsonChecksum],
    ...options,
  };
  const fileOf = (key: string): string => path.join(directory, checkKey(key));
  return {
    async write(key, data) {
      const file = fileOf(key);
      await fs.mkdir(directory, { recursive: true, mode: 0o700 });
      // The dot in front of its temporary name keeps a half-written file out of listings.
      await replaceFile(file, seal(data, layout), { mode: 0o600, durable: true, fs });
    },
    async read(key) {
      const text = await readIfExists(fileOf(key), fs);
      return text === undefined ? { state: 'missing' } : openSeal<T>(text, layout);
    },
    remove: (key) => unlinkIfThere(fs, fileOf(key)),
    async setAside(key) {
      const place = path.join(`${directory}.unreadable`, checkKey(key));
      await fs.mkdir(path.dirname(place), { recursive: true, mode: 0o700 });
      await fs.rename(fileOf(key), place);
      return place;
    },
    async keys() {
      const names = await fs.readdir(directory).catch(emptyIfMissing);
      return names.filter((name) => !name.startsWith('.')).sort();
    },
  };
}

function checkKey(key: string): string {
  if (/^[\w-][\w.:-]{0,199}$/.test(key)) return key;
  throw new TypeError(`no name for a checkpoint: ${JSON.stringify(key)}`);
}

type Layout = Required<Omit<CheckpointOptions, 'fs'>>;

function seal(whole: unknown, { dataField, checksumField, header, checksums }: Layout): string {
  const fields = header.length === 0 ? [] : Object.entries(whole as object);
  const top = header.flatMap((key) => fields.filter(([field]) => field === key));
  const data =
    header.length === 0 ? whole : Object.fromEntries(fields.filter(([key]) => !header.includes(key)));
  const body = JSON.stringify(data);
  const before = top.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)},`).join('');
  const checksum = (checksums[0] ?? jsonChecksum)(data);
  return `{${before}"${dataField}":${body},"${checksumField}":${checksum}}\n`;
}

function openSeal<T>(
  text: string,
  { dataField, checksumField, header, checksums }: Layout,
): CheckpointReading<T> {
  let sealed: unknown;
  try {
    sealed = JSON.parse(text);
  } catch {
    return { state: 'corrupt', reason: text.trim() === '' ? 'it is empty' : 'it is no JSON' };
  }
  if (typeof sealed !== 'object' || sealed === null) return { state: 'corrupt', reason: 'it is no map' };
  const fields = sealed as Record<string, unknown>;
  const data = fields[dataField];
  if (data === undefined) return { state: 'corrupt', reason: `${dataField} is missing` };
  if (!checksums.some((checksum) => checksum(data) === fields[checksumField])) {
    return { state: 'corrupt', reason: `${checksumField} does not match` };
  }
  if (header.length === 0) return { state: 'found', data: data as T };
  const top = Object.fromEntries(header.map((key) => [key, fields[key]]));
  return { state: 'found', data: { ...top, ...data } as T };
}

async function unlinkIfThere(fs: CheckpointFiles, file: string): Promise<void> {
  try {
    await fs.unlink(file);
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
  }
}

function emptyIfMissing(error: unknown): string[] {
  if (hasCode(error, 'ENOENT')) return [];
  throw error;
}

/** Fowler–Noll–Vo, 32 bits, variant 1a, of the text as UTF-8. */
export function fnv32a(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}
