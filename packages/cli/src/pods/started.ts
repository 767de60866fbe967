/** Processes that `podwire up` has started in a directory, so that `podwire down` ends those and nothing else. */
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { hasCode, isAlive, lockFile, type ProcessMark, markProcess } from '@podwire/linux';
import type { Places } from './locate.js';
import { compact, replaceFileSync } from '@podwire/platform';

export type StartedName = 'agent' | 'podlet';
export type Started = Partial<Readonly<Record<StartedName, ProcessMark>>>;

/** State of the machine before `podwire up`, for `podwire down` to restore, also when the agents are dead by then. */
export interface Ground {
  /** Directories that were not there, each before those in it. */
  readonly absent: readonly string[];
  /** The network namespace of the node agent, as `/proc/PID/ns/net` names it; absent while `podwire up` has started none. */
  readonly network?: string;
}

interface Noted extends Started {
  readonly ground?: Ground;
}

/** Only what still lives. */
export function readStarted(places: Places): Started {
  const { ground: _, ...all } = readNoted(places);
  return Object.fromEntries(Object.entries(all).filter(([, mark]) => isAlive(mark)));
}

/** Undefined when `podwire up` has started nothing here since the last `podwire down`. */
export const readGround = (places: Places): Ground | undefined => readNoted(places).ground;

function readNoted({ started }: Places): Noted {
  try {
    return JSON.parse(fs.readFileSync(started, 'utf8')) as Noted;
  } catch {
    return {};
  }
}

/** Those of the directories, and of what they are in, that are not there. */
export function findAbsent(directories: readonly string[]): string[] {
  const absent = new Set<string>();
  for (const directory of directories)
    for (let at = directory; !fs.existsSync(at); at = path.dirname(at)) absent.add(at);
  return [...absent].toSorted((a, b) => a.length - b.length);
}

/** A note of an earlier call stays: it saw the machine before all of Podwire's. */
export function noteGround(places: Places, ground: Ground): void {
  write(places, { ...readStarted(places), ground: { ...ground, ...readGround(places) } });
}

/** Milliseconds. */
const pause = 20;

/**
 * Of two calls at once each would start agents, of which only one would be known afterwards: the second waits until the first has
 * done. A process that dies lets go too. The directory is made if need be.
 * @returns lets go @throws the signal's reason
 */
export async function lockStart({ startLock }: Places, signal: AbortSignal): Promise<() => void> {
  for (;;) {
    fs.mkdirSync(path.dirname(startLock), { recursive: true, mode: 0o700 });
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
    if (isStillThere(fd, startLock)) return () => fs.closeSync(fd);
    fs.closeSync(fd);
  }
}

/** `podwire down` deletes the file while it has the lock. */
function isStillThere(fd: number, file: string): boolean {
  return fs.statSync(file, { throwIfNoEntry: false })?.ino === fs.fstatSync(fd).ino;
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

/**
 * One that lives keeps its place: beside it another one does not come up, and it would be forgotten for that.
 * @param own the network namespace of that process
 */
export function noteStarted(places: Places, name: StartedName, pid: number, own = readNetworkOf(pid)): void {
  const { absent = [], network } = readGround(places) ?? {};
  const ground = { absent, ...compact({ network: name === 'agent' ? own : network }) };
  write(places, { [name]: markProcess(name, pid), ...readStarted(places), ground });
}

/** The network namespace of a process; undefined when it has ended. */
export function readNetworkOf(pid: number): string | undefined {
  try {
    return fs.readlinkSync(`/proc/${pid}/ns/net`);
  } catch {
    return undefined;
  }
}

export function forgetStarted(places: Places): void {
  fs.rmSync(places.started, { force: true });
}

function write({ started }: Places, all: Noted): void {
  replaceFileSync(started, JSON.stringify(all), { mode: 0o600 });
}
