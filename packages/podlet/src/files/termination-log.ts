import { ifExists } from '@podwire/platform';
import { constants } from 'node:fs';
import fs from 'node:fs/promises';
import path from 'node:path';

/** The API's limit for one message. */
const longestMessage = 4096;

/** The file for one instance; those before the previous one go. */
export async function createTerminationLog(directory: string, attempt: number): Promise<string> {
  await fs.mkdir(directory, { recursive: true, mode: 0o750 });
  const file = path.join(directory, String(attempt));
  await (await fs.open(file, 'a')).close();
  // Whatever user the container runs as may write it, whatever the umask.
  await fs.chmod(file, 0o666);
  const old = (await fs.readdir(directory)).filter((name) => Number(name) < attempt - 1);
  for (const name of old) await fs.rm(path.join(directory, name), { force: true });
  return file;
}

/** The end of what the instance wrote. */
export async function readTerminationLog(directory: string, attempt: number): Promise<string> {
  return (await ifExists(readEnd(path.join(directory, String(attempt))))) ?? '';
}

async function readEnd(file: string): Promise<string> {
  const handle = await fs.open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const { size } = await handle.stat();
    const bytes = Buffer.alloc(Math.min(size, longestMessage));
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, size - bytes.length);
    return bytes.toString('utf8', 0, bytesRead);
  } finally {
    await handle.close();
  }
}
