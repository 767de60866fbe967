/** What `podwire up` has started in a directory, so that `podwire down` ends that and nothing else. */
import fs from 'node:fs';
import { isAlive, type ProcessMark, markProcess } from '@podwire/linux';
import type { Places } from './locate.js';

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

export function noteStarted(places: Places, name: StartedName, pid: number): void {
  write(places, { ...readStarted(places), [name]: markProcess(name, pid) });
}

export function forgetStarted(places: Places): void {
  fs.rmSync(places.started, { force: true });
}

function write({ started }: Places, all: Started): void {
  fs.writeFileSync(`${started}.new`, JSON.stringify(all), { mode: 0o600 });
  fs.renameSync(`${started}.new`, started);
}
