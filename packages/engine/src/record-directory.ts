/**
 * Endpoint records as files: one each, the phase is the extension (docs/decisions/0003). All calls are synchronous:
 * on a memory file system they cost less than a turn through the thread pool.
 */
import { createHash } from 'node:crypto';
import nodeFs from 'node:fs';
import path from 'node:path';
import { describeError, PodwireError } from '@podwire/errors';
import { hasCode } from '@podwire/linux';
import type { EndpointId, EndpointRecord, Phase, RecordStore } from './record.js';
import { endpointKey } from './record.js';

/** What the directory needs of `node:fs`; tests pass one that fails like a full disk. */
export type RecordFiles = Pick<
  typeof nodeFs,
  'existsSync' | 'mkdirSync' | 'readdirSync' | 'readFileSync' | 'renameSync' | 'unlinkSync' | 'writeFileSync'
>;

const phases: readonly Phase[] = ['wiring', 'ready', 'removing'];

/** Opens (and makes, mode 0700) the directory of records. @throws PodwireError RECORD_IO */
export function openRecordDirectory(directory: string, fs: RecordFiles = nodeFs): RecordStore {
  guard(directory, 'create the directory', () => fs.mkdirSync(directory, { recursive: true, mode: 0o700 }));
  const fileOf = (id: EndpointId, phase: Phase): string => path.join(directory, nameOf(id, phase));

  return {
    readAll: () => readAll(directory, fs),

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
  return `${createHash('sha256').update(key).digest('hex')}.${phase}`;
}

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

function readAll(directory: string, fs: RecordFiles): ReturnType<RecordStore['readAll']> {
  const records: EndpointRecord[] = [];
  const broken: { name: string; reason: string }[] = [];
  for (const name of fs.readdirSync(directory)) {
    const outcome = readOne(directory, name, fs);
    if (typeof outcome === 'string') broken.push({ name, reason: outcome });
    else records.push(outcome);
  }
  return { records, broken };
}

function readOne(directory: string, name: string, fs: RecordFiles): EndpointRecord | string {
  const phase = phases.find((candidate) => name.endsWith(`.${candidate}`));
  if (phase === undefined) return 'not an endpoint record';
  try {
    const record = JSON.parse(fs.readFileSync(path.join(directory, name), 'utf8')) as EndpointRecord;
    if (record.version !== 1) return `a record of version ${String(record.version)}`;
    if (nameOf(record.id, phase) !== name) return 'the file name does not match its content';
    return { ...record, phase };
  } catch (error) {
    return describeError(error);
  }
}
