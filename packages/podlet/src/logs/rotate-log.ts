/** One log: older files are compressed and removed, and the file is moved away as the kubelet does it. */
import fs from 'node:fs';
import fsp from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { compressedSuffix, listRotatedLogs, type RotatedLog, rotatedName } from '@podwire/cri/logs';
import { hasCode } from '@podwire/linux';

export interface Rotation {
  /** Of one log, with the one that is written to. */
  readonly maxFiles: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** ReopenContainerLog of the container. @throws when it still has, or may have, the old file */
  readonly reopen: () => Promise<void>;
}

/** Goes on after what cannot be removed or compressed. @throws what went wrong; the log is whole then, and written to */
export async function rotateLog(file: string, { maxFiles, now, reopen }: Rotation): Promise<void> {
  const errors: unknown[] = [];
  const collect = async (work: () => Promise<void>): Promise<void> =>
    work().catch((error: unknown) => void errors.push(error));
  await collect(() => tidy(file, maxFiles));
  await collect(() => moveAway(file, rotatedName(file, now), reopen));
  if (errors.length === 1) throw errors[0];
  if (errors.length > 1) throw new AggregateError(errors, `the log ${file} could not be rotated`);
}

/** Removes what will be too much once the file has been moved away, and compresses the rest. */
async function tidy(file: string, maxFiles: number): Promise<void> {
  const rotated = await listRotatedLogs(file);
  const kept = Math.max(0, maxFiles - 2);
  const excess = rotated.slice(0, Math.max(0, rotated.length - kept));
  for (const log of excess) await removeRotated(log);
  for (const log of rotated.slice(excess.length)) if (!log.compressed) await compress(log);
}

/** Also what a compression that was interrupted has left of it. */
async function removeRotated({ path }: RotatedLog): Promise<void> {
  for (const suffix of ['', compressedSuffix, temporarySuffix])
    await fsp.rm(`${path}${suffix}`, { force: true });
}

const temporarySuffix = '.tmp';

/** The compressed one is whole before it has its name, and on the disk before the other one goes. */
async function compress({ path }: RotatedLog): Promise<void> {
  const { mode } = await fsp.stat(path);
  const draft = `${path}${temporarySuffix}`;
  await pipeline(
    fs.createReadStream(path),
    createGzip(),
    fs.createWriteStream(draft, { mode: mode & 0o777, flush: true }),
  );
  await fsp.rename(draft, `${path}${compressedSuffix}`);
  await fsp.rm(path);
}

async function moveAway(file: string, rotated: string, reopen: () => Promise<void>): Promise<void> {
  // Twice in one second: the next time.
  if (fs.existsSync(rotated) || fs.existsSync(`${rotated}${compressedSuffix}`)) return;
  await fsp.rename(file, rotated);
  try {
    await reopen();
  } catch (error) {
    await moveBack(rotated, file);
    throw error;
  }
}

/** A call that has failed may have had its effect: a new file is there then, which must not be lost. */
async function moveBack(rotated: string, file: string): Promise<void> {
  try {
    await fsp.link(rotated, file);
    await fsp.rm(rotated);
  } catch (error) {
    if (!hasCode(error, 'EEXIST', 'ENOENT')) throw error;
  }
}

/** True if a rotation was interrupted after the file was moved away: the container writes to that one, and nothing has the name. */
export async function isInterrupted(file: string): Promise<boolean> {
  return !fs.existsSync(file) && (await listRotatedLogs(file)).some(({ compressed }) => !compressed);
}

/** The log of a container that is gone, with all that was rotated away. */
export async function removeLog(file: string): Promise<void> {
  for (const log of await listRotatedLogs(file)) await removeRotated(log);
  await fsp.rm(file, { force: true });
}
