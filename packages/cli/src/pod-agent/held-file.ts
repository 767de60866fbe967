/** Pods that were stopped or removed by name, over a restart of the pod agent and of the machine. */
import fs from 'node:fs';
import path from 'node:path';
import { describeError } from '@podwire/errors';
import { type Clock, type Log, replaceFileSync } from '@podwire/platform';
import { HeldPods, type Hold } from '@podwire/podlet';
import type { Places } from '../pods/locate.js';

const fileOf = ({ podletState }: Places): string => path.join(podletState, 'held.json');

export function openHeldPods(places: Places, clock: Clock, log: Log): HeldPods {
  const { holds, problem } = loadHolds(places);
  if (problem !== undefined) log.warn({ problem }, 'pods that were stopped or removed by name run again');
  return new HeldPods(
    holds,
    (all) => saveHolds(places, all),
    () => clock.now(),
  );
}

/** `problem` says why the file is of no use: its pods run then. */
function loadHolds(places: Places): { readonly holds: readonly Hold[]; readonly problem?: string } {
  const file = fileOf(places);
  try {
    const read: unknown = JSON.parse(fs.readFileSync(file, 'utf8'));
    if (Array.isArray(read) && read.every(isHold)) return { holds: read };
    return { holds: [], problem: `${file} is no list of pods` };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { holds: [] };
    return { holds: [], problem: `${file}: ${describeError(error)}` };
  }
}

function isHold(value: unknown): value is Hold {
  const { kind, namespace, name, origin, since } = (value ?? {}) as Partial<Record<keyof Hold, unknown>>;
  const isText = (each: unknown): boolean => typeof each === 'string';
  return (kind === 'stopped' || kind === 'removed') && [namespace, name, origin, since].every(isText);
}

function saveHolds(places: Places, holds: readonly Hold[]): void {
  if (holds.length === 0) fs.rmSync(fileOf(places), { force: true });
  else replaceFileSync(fileOf(places), JSON.stringify(holds), { mode: 0o600 });
}
