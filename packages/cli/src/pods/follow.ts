/** Watching pods come up or go, and saying so line by line. */
import { PodwireError, redactUrl } from '@podwire/errors';
import type { LocalApi } from '@podwire/local-api';
import type { PodChange, PodView, SourceProblem } from '@podwire/podlet';
import { withDeadline } from '@podwire/platform';
import { colorsFor, type Io, printable } from '../io.js';
import type { Progress } from '../render/progress.js';
import { formatMilliseconds } from '../render/times.js';
import { evaluatePod, type PodReadiness } from './readiness.js';
import { fullName } from './names.js';

/** The pods as they are known, by uid. */
export interface PodBoard {
  readonly pods: Map<string, PodView>;
  problems: readonly SourceProblem[];
}

export function applyChange(board: PodBoard, change: PodChange): void {
  switch (change.kind) {
    case 'all':
      board.pods.clear();
      for (const pod of change.pods) board.pods.set(pod.uid, pod);
      board.problems = change.problems;
      return;
    case 'pod':
      board.pods.set(change.pod.uid, change.pod);
      return;
    case 'gone':
      board.pods.delete(change.uid);
      return;
    case 'problems':
      board.problems = change.problems;
  }
}

export interface Follow {
  readonly api: LocalApi;
  readonly io: Io;
  readonly progress: Progress;
  /** Reports if a pod is one of those that are waited for. */
  readonly concerns: (pod: PodView) => boolean;
  /** Ends the waiting. */
  readonly signal: AbortSignal;
}

/**
 * Until `isDone` says so of the pods that concern us, or the signal.
 * @returns the board as it was at the end
 * @throws PodwireError DEADLINE_EXCEEDED when nothing was heard of any pod until then
 */
export async function followPods(
  { api, io, progress, concerns, signal }: Follow,
  isDone: (pods: readonly PodView[], board: PodBoard) => boolean,
): Promise<PodBoard> {
  const begin = performance.now();
  const board: PodBoard = { pods: new Map(), problems: [] };
  const told = new Map<string, Said>();
  let heard = false;
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  try {
    for await (const change of api.lines<PodChange>('/v1/watch', either)) {
      applyChange(board, change);
      heard = true;
      const pods = [...board.pods.values()].filter(concerns);
      for (const pod of pods) tell(io, progress, told, pod, performance.now() - begin);
      if (isDone(pods, board)) break;
      showWaiting(progress, pods);
    }
  } catch (error) {
    if (!either.aborted) throw error;
  } finally {
    stop.abort();
    progress.end();
  }
  // An empty board would say that there is no pod.
  if (!heard) throw new PodwireError('DEADLINE_EXCEEDED', 'the pod agent did not say which pods there are');
  return board;
}

export interface Wait extends Omit<Follow, 'concerns'> {
  /** Manifests, directories of them or URLs: whose pods are waited for. */
  readonly places: readonly string[];
  readonly milliseconds: number;
}

export interface WaitResult {
  readonly pods: readonly PodView[];
  readonly problems: readonly SourceProblem[];
}

/** Until each pod is ready or has ended, or time is up. */
export async function waitForPods({ places, milliseconds, signal, ...rest }: Wait): Promise<WaitResult> {
  const concerns = isOf(places);
  const board = await withDeadline(signal, milliseconds, (either) =>
    followPods({ ...rest, concerns, signal: either }, isSettled),
  );
  return { pods: [...board.pods.values()].filter(concerns), problems: board.problems };
}

/** A pod that will never be ready has been said to have failed. */
function isSettled(pods: readonly PodView[]): boolean {
  return pods.every((pod) => evaluatePod(pod).state !== 'waiting');
}

/** Pods whose manifest stands in one of the places; pods know URLs without user and password. */
export function isOf(places: readonly string[]): (pod: Pick<PodView, 'origin'>) => boolean {
  const shown = places.map((place) => (isUrl(place) ? redactUrl(place) : place));
  return ({ origin }) =>
    origin !== undefined &&
    shown.some((place) => origin === place || origin.startsWith(`${place.replace(/\/$/, '')}/`));
}

const isUrl = (place: string): boolean => /^https?:\/\//.test(place);

const marks: Readonly<Record<PodReadiness['state'], string>> = {
  waiting: '…',
  ready: '✓',
  succeeded: '✓',
  failed: '✗',
};

/** Messages printed about a pod: the latest, and everything that it waited for. */
interface Said {
  latest: string;
  readonly waits: Set<string>;
}

/** One line whenever a pod gets somewhere, or waits for something that has not been said yet: retries say the same again. */
function tell(io: Io, progress: Progress, told: Map<string, Said>, pod: PodView, after: number): void {
  const readiness = evaluatePod(pod);
  const isWarning = readiness.state === 'waiting' && pod.events.some(({ type }) => type === 'Warning');
  // `ContainerCreating` alone is no news; what failed comes with its words.
  if (readiness.state === 'waiting' && !(isWarning && readiness.why.includes(': '))) return;
  const key = `${readiness.state} ${readiness.why}`;
  const said = told.get(pod.uid) ?? { latest: '', waits: new Set() };
  if (said.latest === key || said.waits.has(key)) return;
  said.latest = key;
  if (readiness.state === 'waiting') said.waits.add(key);
  told.set(pod.uid, said);
  progress.end();
  const paint = colorsFor(io, io.stderr);
  const mark = { waiting: paint.yellow, ready: paint.green, succeeded: paint.green, failed: paint.red }[
    readiness.state
  ];
  const addresses = pod.status.podIPs.map(({ ip }) => ip).join(' ');
  const words =
    readiness.why === ''
      ? `${readiness.state} ${addresses}`.trimEnd()
      : `${readiness.state}: ${readiness.why}`;
  io.stderr.write(
    `${mark(marks[readiness.state])} pod/${printable(fullName(pod))} ${printable(words)} ${paint.dim(formatMilliseconds(after))}\n`,
  );
}

function showWaiting(progress: Progress, pods: readonly PodView[]): void {
  const waiting = pods.filter((pod) => evaluatePod(pod).state === 'waiting');
  const [first] = waiting;
  if (first === undefined) return;
  const rest = waiting.length === 1 ? '' : ` and ${waiting.length - 1} more`;
  progress.show(`waiting for pod/${printable(fullName(first))}${rest}`, printable(evaluatePod(first).why));
}
