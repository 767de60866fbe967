/** What `podwire up` has started in a directory, so that `podwire down` ends that and nothing else. */
import fs from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { hasCode, isAlive, lockFile, type ProcessMark, markProcess } from '@podwire/linux';
import type { Places } from './locate.js';
import { replaceFileSync } from '@podwire/platform';

export type StartedName = 'agent' | 'podlet';
export type Started = Partial<Readonly<Record<StartedName, ProcessMark>>>;

/** Only what still lives. */
export function readStarted({ started }: Places): Started {
  try {
    const all = JSON.parse(fs.readFileSync(started, 'utf8')) as Started;
    return Object.fromEntries(Object.entries(all).filter(([, mark]) => isAlive(mark)));
  } catch {
    return {};
  }
}

/** Milliseconds. */
const pause = 20;

/**
 * Of two calls at once each would start agents, of which only one would be known afterwards: the second waits until the first has
 * done. A process that dies lets go too.
 * @returns lets go @throws the signal's reason
 */
export async function lockStart({ startLock }: Places, signal: AbortSignal): Promise<() => void> {
  const fd = fs.openSync(startLock, 'a', 0o600);
  try {
    while (!isLocked(fd)) {
      signal.throwIfAborted();
      await sleep(pause);
    }
  } catch (error) {
    fs.closeSync(fd);
    throw error;
  }
  return () => fs.closeSync(fd);
}

function isLocked(fd: number): boolean {
  try {
    lockFile(fd);
    return true;
  } catch (error) {
    if (hasCode(error, 'EAGAIN')) return false;
    throw error;
  }
}

/** One that lives keeps its place: beside it another one does not come up, and it would be forgotten for that. */
export function noteStarted(places: Places, name: StartedName, pid: number): void {
  write(places, { [name]: markProcess(name, pid), ...readStarted(places) });
}

export function forgetStarted(places: Places): void {
  fs.rmSync(places.started, { force: true });
}

function write({ started }: Places, all: Started): void {
  replaceFileSync(started, JSON.stringify(all), { mode: 0o600 });
}
