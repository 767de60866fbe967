import { hasCode } from '@podwire/linux';
import type { Clock } from '../options.js';
import type { LiveProcess } from '../state/inventory.js';
import { isAlive } from './alive.js';
import { connectControl, type ControlConnection } from './control.js';
import { readStateFile } from './state-file.js';
import type { Frame } from './frames.js';

const STEP_MILLISECONDS = 5;
const PATIENCE_MILLISECONDS = 30_000;

/**
 * Connects to a pause process or shim that a former process started, perhaps only a moment before it died itself: as long as the
 * lock says that it lives, it is waited for. Undefined when it is dead. @throws Error when it lives and does not answer
 */
export async function connectWhileAlive(
  directory: string,
  clock: Clock,
  take?: (frame: Frame) => void,
): Promise<LiveProcess | undefined> {
  const deadline = clock.elapsed() + PATIENCE_MILLISECONDS;
  const signal = AbortSignal.timeout(PATIENCE_MILLISECONDS * 2);
  while (isAlive(directory)) {
    const connection = await tryConnect(directory, take);
    const process = readStateFile(directory)?.process;
    if (connection !== undefined && process !== undefined) return { connection, process };
    connection?.close();
    if (clock.elapsed() > deadline) throw new Error(`what holds ${directory} does not answer`);
    await clock.sleep(STEP_MILLISECONDS, signal);
  }
  return undefined;
}

async function tryConnect(
  directory: string,
  take?: (frame: Frame) => void,
): Promise<ControlConnection | undefined> {
  try {
    return await connectControl(directory, take);
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ECONNREFUSED')) return undefined;
    throw error;
  }
}

/** Resolves when the process of this directory has ended. */
export async function untilDead(directory: string, clock: Clock, signal: AbortSignal): Promise<void> {
  while (isAlive(directory)) await clock.sleep(1, signal);
}
