/**
 * Endpoint records as files: one each, the phase is the extension (docs/decisions/0003). All calls are synchronous:
 * on a memory file system they cost less than a turn through the thread pool.
 */
import { createHash } from 'node:crypto';
import nodeFs from 'node:fs';
import path from 'node:path';
import type { KindRegistry } from '@podwire/engine';
import { describeError, PodwireError } from '@podwire/errors';
import { hasCode } from '@podwire/linux';
import { type EndpointId, endpointKey } from '@podwire/network-contract';
import type { BrokenRecord, EndpointRecord, Phase, RecordStore } from './record.js';
import { isNewer, readRecord } from './schema.js';

/** Functions of `node:fs` that the directory uses; tests pass one that fails like a full disk. */
export type RecordFiles = Pick<
  typeof nodeFs,
  | 'closeSync'
  | 'existsSync'
  | 'fstatSync'
  | 'lstatSync'
  | 'mkdirSync'
  | 'openSync'
  | 'readdirSync'
  | 'readFileSync'
  | 'renameSync'
  | 'unlinkSync'
  | 'writeFileSync'
>;

/** Checks of the resources in records. */
type Kinds = Pick<KindRegistry, 'check'>;

/** Opens (and makes, mode 0700) the directory of records. @throws PodwireError RECORD_IO */
export function openRecordDirectory(directory: string, kinds: Kinds, fs: RecordFiles = nodeFs): RecordStore {
  guard(directory, 'create the directory', () => fs.mkdirSync(directory, { recursive: true, mode: 0o700 }));
  const fileOf = (id: EndpointId, phase: Phase): string => path.join(directory, nameOf(id, phase));

  return {
    readAll: () => readAll(directory, kinds, fs),
    discard: ({ name }) => discard(directory, name, fs),

    write(record) {
      const file = fileOf(record.id, record.phase);
      guard(file, 'write', () => writeWhole(fs, file, JSON.stringify(record)));
    },

    advance(record, phase) {
      const file = fileOf(record.id, phase);
      const advanced = { ...record, phase };
      guard(file, 'rename', () => {
        try {
          fs.renameSync(fileOf(record.id, record.phase), file);
        } catch (error) {
          // Deleted by hand: the endpoint is there all the same.
          if (!hasCode(error, 'ENOENT')) throw error;
          writeWhole(fs, file, JSON.stringify(advanced));
        }
      });
      return advanced;
    },

    delete({ id, phase }) {
      const file = fileOf(id, phase);
      guard(file, 'delete', () => unlinkIfThere(fs, file));
    },
  };
}

/** Earlier versions made endpoints whose key is too long for a file name, in some phase at least: these have their digest in it. */
function nameOf(id: EndpointId, phase: Phase): string {
  const key = endpointKey(id);
  if (Buffer.byteLength(`${key}.${phase}`) <= NAME_MAX) return `${key}.${phase}`;
  return `${digest(key)}.${phase}`;
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Bytes of a file name (limits.h). */
const NAME_MAX = 255;

function writeWhole(fs: RecordFiles, file: string, text: string): void {
  try {
    fs.writeFileSync(file, text, { mode: 0o600 });
  } catch (error) {
    // A torn file would be deleted at the next start anyway; a full disk gets its bytes back now.
    unlinkIfThere(fs, file);
    throw error;
  }
}

function unlinkIfThere(fs: RecordFiles, file: string): void {
  try {
    fs.unlinkSync(file);
  } catch (error) {
    // A read-only file system says EROFS, and one that takes no such name ENAMETOOLONG, of files that are not there too.
    if (fs.existsSync(file)) throw error;
  }
}

function guard(file: string, action: string, work: () => void): void {
  try {
    work();
  } catch (cause) {
    const message = `cannot ${action} ${file}: ${describeError(cause)}`;
    throw new PodwireError('RECORD_IO', message, { cause, details: { file } });
  }
}

function readAll(directory: string, kinds: Kinds, fs: RecordFiles): ReturnType<RecordStore['readAll']> {
  const records: EndpointRecord[] = [];
  const broken: BrokenRecord[] = [];
  for (const name of fs.readdirSync(directory)) {
    const outcome = readOne(directory, name, kinds, fs);
    if ('reason' in outcome) broken.push(outcome);
    else records.push(outcome);
  }
  return { records, broken };
}

type Named = Required<Pick<BrokenRecord, 'name' | 'phase'>> & Pick<BrokenRecord, 'id'>;

function readOne(
  directory: string,
  name: string,
  kinds: Kinds,
  fs: RecordFiles,
): EndpointRecord | BrokenRecord {
  const named = parseName(name);
  if (named === undefined) return { name, reason: 'not an endpoint record' };
  try {
    return understand(named, readRegularFile(fs, path.join(directory, name)), kinds);
  } catch (error) {
    return { ...named, reason: describeError(error) };
  }
}

function parseName(name: string): Named | undefined {
  const [, network, containerId, ifName, phase] =
    /^(?:([^,]+),([^,]+),([^,]+)|[0-9a-f]{64})\.(wiring|ready|removing)$/.exec(name) ?? [];
  if (phase === undefined) return undefined;
  const id = network === undefined ? {} : { id: { network, containerId: containerId!, ifName: ifName! } };
  return { name, phase: phase as Phase, ...id };
}

function understand(named: Named, text: string, kinds: Kinds): EndpointRecord | BrokenRecord {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch (error) {
    return { ...named, text, reason: describeError(error), isTorn: true };
  }
  const record = readRecord(content, kinds);
  if (typeof record === 'string')
    return { ...named, text, reason: record, ...(isNewer(content) ? { isNewer: true } : {}) };
  const isNamedSo = nameOf(record.id, named.phase) === named.name;
  if (!isNamedSo) return { ...named, text, reason: 'the file name does not match its content' };
  return { ...record, phase: named.phase };
}

/** Bytes. A record with 10,000 host ports has some 6 MB. */
const LARGEST = 64 << 20;

/** Opening a FIFO would wait for ever, and a link may lead anywhere. */
function readRegularFile(fs: RecordFiles, file: string): string {
  const { O_RDONLY, O_NONBLOCK, O_NOFOLLOW } = nodeFs.constants;
  const fd = fs.openSync(file, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
  try {
    const state = fs.fstatSync(fd);
    if (!state.isFile()) throw new Error('not a regular file');
    if (state.size > LARGEST) throw new Error(`${state.size} bytes are too many for a record`);
    return fs.readFileSync(fd, 'utf8');
  } finally {
    fs.closeSync(fd);
  }
}

function discard(directory: string, name: string, fs: RecordFiles): void {
  const file = path.join(directory, name);
  guard(file, 'delete', () => {
    if (fs.lstatSync(file, { throwIfNoEntry: false })?.isDirectory() !== true) unlinkIfThere(fs, file);
    else fs.renameSync(file, path.join(directory, `aside-${digest(name)}`));
  });
}
