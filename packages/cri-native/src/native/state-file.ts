/** The file `state` that podwire-hold leaves: who runs, and how it ended. */
import fs from 'node:fs';
import path from 'node:path';
import { hasCode } from '@podwire/linux';

/** A process for ever: its number, and when it started (clock ticks since boot). */
export interface ProcessName {
  readonly pid: number;
  readonly start: bigint;
}

export interface ProcessEnd {
  /** 128 + signal for one that was killed by a signal. */
  readonly code: number;
  readonly signal: number;
  /** Nanoseconds since 1970. */
  readonly finishedAt: bigint;
  /** Why it could not even be started. */
  readonly error?: string;
}

export interface HeldState {
  readonly process: ProcessName;
  /** Nanoseconds since 1970; 0 when it never ran. */
  readonly startedAt: bigint;
  readonly end?: ProcessEnd;
}

/** Undefined when there is no such file: nothing got as far as to write it. */
export function readStateFile(directory: string): HeldState | undefined {
  try {
    return parseState(fs.readFileSync(path.join(directory, 'state'), 'utf8'));
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined;
    throw error;
  }
}

/** Lines of `key value`. Undefined when it is not such a file. */
export function parseState(text: string): HeldState | undefined {
  const lines = text.split('\n').map((line) => line.split(/ (.*)/s));
  const facts = new Map(lines.map(([key = '', value = '']) => [key, value]));
  const number = (key: string): bigint => BigInt(/^\d+$/.exec(facts.get(key) ?? '')?.[0] ?? 0);
  if (!facts.has('pid')) return undefined;
  const process = { pid: Number(number('pid')), start: number('start') };
  const state = { process, startedAt: number('started') };
  if (!facts.has('exit')) return state;
  const error = facts.get('error');
  const end = {
    code: Number(number('exit')),
    signal: Number(number('signal')),
    finishedAt: number('finished'),
  };
  return { ...state, end: error === undefined ? end : { ...end, error } };
}
