/**
 * The state of one manifest file. A file that is being changed is evaluated late: what was good stays until the
 * new content is good too, or has been bad for a while, and what is gone may come back at once, as editors do it.
 */
import type nodeFs from 'node:fs';
import { describeError } from '@podwire/errors';
import type { Clock, SourceProblem } from '../contract.js';
import { mostBytes } from '@podwire/apimachinery/documents';
import { type LocalPlace, type ManifestContent, readManifests } from '@podwire/pod-spec';

export type ReadFiles = Pick<typeof nodeFs, 'readFileSync' | 'statSync'>;

/** For how long a file may be bad, as it is while it is written, before it is said. Milliseconds. */
export const patienceWithBad = 100;
/** For how long a file may be away, as it is while it is replaced, before its pods go. Milliseconds. */
export const patienceWithGone = 50;
/** Changes closer together than this may have the same time stamp: the kernel counts in ticks of up to 10 ms. */
export const stampGrain = 20;

export interface FileState {
  readonly file: string;
  /** The latest content that was good. */
  readonly content?: ManifestContent;
  /** The problems of the present content. */
  readonly problems: readonly SourceProblem[];
  /** Elapsed time since when the content is bad, or the file gone; it is evaluated when patience has ended. */
  readonly badSince?: number;
  readonly goneSince?: number;
  /** When the good content came to be, milliseconds since the epoch. */
  readonly changedAt?: number;
  readonly signature: string;
  readonly text?: string;
}

/** Perhaps it is only being written: nothing is to be said yet. */
export function isBadOnlyNow({ badSince }: FileState, now: number): boolean {
  return badSince !== undefined && now - badSince < patienceWithBad;
}

/** True if it will be evaluated later, although nothing happens to it. */
export function isPending(state: FileState, now: number): boolean {
  const { goneSince } = state;
  return isBadOnlyNow(state, now) || (goneSince !== undefined && now - goneSince < patienceWithGone);
}

export function lookAtFile(
  file: string,
  before: FileState | undefined,
  place: Omit<LocalPlace, 'origin' | 'source'>,
  clock: Clock,
  fs: ReadFiles,
): FileState {
  const { goneSince: _, ...known } = before ?? { file, problems: [], signature: '' };
  const outcome = readIfChanged(file, known, clock, fs);
  if (outcome === 'same') return known;
  const { text: latestText, ...unread } = known;
  if (typeof outcome === 'string') return rejectContent(unread, [problemOf(file, outcome)], '', clock);
  const { text, signature, changedAt } = outcome;
  if (text === latestText) return { ...known, signature };
  const content = readManifests(text, { ...place, source: 'file', origin: file });
  if (content.problems.length > 0)
    return rejectContent({ ...known, text }, content.problems, signature, clock);
  return { file, content, problems: [], changedAt, signature, text };
}

/** Patience begins with the first bad content: a file that is rewritten badly again and again is bad all the time. */
function rejectContent(
  known: FileState,
  problems: readonly SourceProblem[],
  signature: string,
  clock: Clock,
): FileState {
  return { ...known, problems, signature, badSince: known.badSince ?? clock.elapsed() };
}

export function problemOf(origin: string, message: string): SourceProblem {
  return { source: 'file', origin, message };
}

interface ReadOutcome {
  readonly text: string;
  readonly signature: string;
  readonly changedAt: number;
}

/** @returns why it cannot be read, as a text that is not `same` */
function readIfChanged(
  file: string,
  known: FileState,
  clock: Clock,
  fs: ReadFiles,
): ReadOutcome | 'same' | (string & {}) {
  try {
    const stat = fs.statSync(file, { bigint: true, throwIfNoEntry: false });
    if (stat === undefined) return 'is a link that leads nowhere';
    if (stat.isDirectory())
      return 'is a directory: manifests are read from one directory only, not from those in it';
    if (!stat.isFile()) return 'is no regular file';
    if (stat.size > mostBytes) return 'is larger than 10 MiB';
    const changedAt = Number(stat.ctimeNs) / 1e6;
    const stamps = `${stat.dev}:${stat.ino}:${stat.size}:${stat.mtimeNs}:${stat.ctimeNs}`;
    if (stamps === known.signature) return 'same';
    // Stamps this fresh may hide a later change, so they are not remembered.
    const signature = clock.now() - changedAt < stampGrain ? '' : stamps;
    return { text: decode(fs.readFileSync(file)), signature, changedAt };
  } catch (error) {
    return `cannot be read: ${describeError(error)}`;
  }
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Error('it is no UTF-8 text');
  }
}
