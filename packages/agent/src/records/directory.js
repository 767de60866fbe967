/**
 * Endpoint records as files: one each, the phase is the extension (docs/decisions/0003). All calls are synchronous:
 * on a memory file system they cost less than a turn through the thread pool.
 */
import { createHash } from 'node:crypto';
import nodeFs from 'node:fs';
import path from 'node:path';
import { describeError, PodwireError } from '@podwire/errors';
import { hasCode } from '@podwire/linux';
import { endpointKey } from '@podwire/network-contract';
import { recordProblem } from './schema.js';
/** Opens (and makes, mode 0700) the directory of records. @throws PodwireError RECORD_IO */
export function openRecordDirectory(directory, fs = nodeFs) {
    guard(directory, 'create the directory', () => fs.mkdirSync(directory, { recursive: true, mode: 0o700 }));
    const fileOf = (id, phase) => path.join(directory, nameOf(id, phase));
    return {
        readAll: () => readAll(directory, fs),
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
                }
                catch (error) {
                    // Deleted by hand: the endpoint is there all the same.
                    if (!hasCode(error, 'ENOENT'))
                        throw error;
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
function nameOf(id, phase) {
    const key = endpointKey(id);
    if (Buffer.byteLength(`${key}.${phase}`) <= NAME_MAX)
        return `${key}.${phase}`;
    return `${digest(key)}.${phase}`;
}
const digest = (text) => createHash('sha256').update(text).digest('hex');
/** Bytes of a file name (limits.h). */
const NAME_MAX = 255;
function writeWhole(fs, file, text) {
    try {
        fs.writeFileSync(file, text, { mode: 0o600 });
    }
    catch (error) {
        // A torn file would be deleted at the next start anyway; a full disk gets its bytes back now.
        unlinkIfThere(fs, file);
        throw error;
    }
}
function unlinkIfThere(fs, file) {
    try {
        fs.unlinkSync(file);
    }
    catch (error) {
        // A read-only file system says EROFS, and one that takes no such name ENAMETOOLONG, of files that are not there too.
        if (fs.existsSync(file))
            throw error;
    }
}
function guard(file, action, work) {
    try {
        work();
    }
    catch (cause) {
        const message = `cannot ${action} ${file}: ${describeError(cause)}`;
        throw new PodwireError('RECORD_IO', message, { cause, details: { file } });
    }
}
function readAll(directory, fs) {
    const records = [];
    const broken = [];
    for (const name of fs.readdirSync(directory)) {
        const outcome = readOne(directory, name, fs);
        if ('reason' in outcome)
            broken.push(outcome);
        else
            records.push(outcome);
    }
    return { records, broken };
}
function readOne(directory, name, fs) {
    const named = parseName(name);
    if (named === undefined)
        return { name, reason: 'not an endpoint record' };
    try {
        return understand(named, readRegularFile(fs, path.join(directory, name)));
    }
    catch (error) {
        return { ...named, reason: describeError(error) };
    }
}
function parseName(name) {
    const [, network, containerId, ifName, phase] = /^(?:([^,]+),([^,]+),([^,]+)|[0-9a-f]{64})\.(wiring|ready|removing)$/.exec(name) ?? [];
    if (phase === undefined)
        return undefined;
    const id = network === undefined ? {} : { id: { network, containerId: containerId, ifName: ifName } };
    return { name, phase: phase, ...id };
}
function understand(named, text) {
    let content;
    try {
        content = JSON.parse(text);
    }
    catch (error) {
        return { ...named, text, reason: describeError(error), isTorn: true };
    }
    const reason = recordProblem(content);
    if (reason !== undefined)
        return { ...named, text, reason };
    const record = content;
    const isNamedSo = nameOf(record.id, named.phase) === named.name;
    if (!isNamedSo)
        return { ...named, text, reason: 'the file name does not match its content' };
    return { ...record, phase: named.phase };
}
/** Bytes. A record with 10,000 host ports has some 6 MB. */
const LARGEST = 64 << 20;
/** Opening a FIFO would wait for ever, and a link may lead anywhere. */
function readRegularFile(fs, file) {
    const { O_RDONLY, O_NONBLOCK, O_NOFOLLOW } = nodeFs.constants;
    const fd = fs.openSync(file, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
    try {
        const state = fs.fstatSync(fd);
        if (!state.isFile())
            throw new Error('not a regular file');
        if (state.size > LARGEST)
            throw new Error(`${state.size} bytes are too many for a record`);
        return fs.readFileSync(fd, 'utf8');
    }
    finally {
        fs.closeSync(fd);
    }
}
function discard(directory, name, fs) {
    const file = path.join(directory, name);
    guard(file, 'delete', () => {
        if (fs.lstatSync(file, { throwIfNoEntry: false })?.isDirectory() !== true)
            unlinkIfThere(fs, file);
        else
            fs.renameSync(file, path.join(directory, `aside-${digest(name)}`));
    });
}
//# sourceMappingURL=directory.js.map