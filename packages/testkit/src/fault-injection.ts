/**
 * Fault injection between a test and the agent under test. The agent logs every fault point that it reaches, and executes
 * the one injection that the test has requested. Both are files, because a file survives `kill -9`.
 */
import fs from 'node:fs';
import path from 'node:path';
import {
  deadlineSignal,
  type FaultPoints,
  onAbort,
  readIfExistsSync,
  replaceFileSync,
} from '@podwire/platform';

/** The agent sends itself a signal when it reaches `point` for the `skip + 1`st time from now on. */
export interface FaultInjection {
  readonly point: string;
  readonly skip: number;
  /** SIGSTOP freezes the agent within the step. */
  readonly signal: 'SIGKILL' | 'SIGSTOP';
}

const injectionIn = (directory: string): string => path.join(directory, 'injection');
const pointsIn = (directory: string): string => path.join(directory, 'points');

/** Fault points of the agent's side. */
export function executeInjections(directory: string): FaultPoints {
  fs.mkdirSync(directory, { recursive: true });
  return {
    reach(point) {
      fs.appendFileSync(pointsIn(directory), `${point}\n`);
      const injection = readInjection(directory);
      if (injection?.point !== point) return;
      if (injection.skip > 0) return writeInjection(directory, { ...injection, skip: injection.skip - 1 });
      fs.unlinkSync(injectionIn(directory));
      // A signal to oneself is delivered before kill(2) returns (POSIX), so not one more instruction is carried out.
      process.kill(process.pid, injection.signal);
    },
  };
}

function readInjection(directory: string): FaultInjection | undefined {
  const text = readIfExistsSync(injectionIn(directory));
  return text === undefined ? undefined : (JSON.parse(text) as FaultInjection);
}

/** Written atomically: the agent may be reading it. */
function writeInjection(directory: string, injection: FaultInjection): void {
  replaceFileSync(injectionIn(directory), JSON.stringify(injection));
}

/** One passing of a fault point: its name, and how often it was passed before. */
export type Occurrence = Pick<FaultInjection, 'point' | 'skip'>;

/** Control of the agent's faults by the test. */
export interface FaultInjector {
  inject(injection: FaultInjection): void;
  /** Reports if the last injection was not executed yet. */
  isPending(): boolean;
  /** Removes the injection and the log of points. */
  clear(): void;
  /** The points reached since `clear`, in order. */
  occurrences(): Occurrence[];
  /** Resolves when the agent has reached these points in this order since `clear`. @throws Error after 10 s */
  reached(...points: readonly string[]): Promise<void>;
}

export function openFaultInjector(directory: string): FaultInjector {
  fs.mkdirSync(directory, { recursive: true });
  const points = (): string[] => fs.readFileSync(pointsIn(directory), 'utf8').split('\n').slice(0, -1);
  return {
    inject: (injection) => writeInjection(directory, injection),
    isPending: () => fs.existsSync(injectionIn(directory)),
    clear() {
      fs.rmSync(injectionIn(directory), { force: true });
      fs.writeFileSync(pointsIn(directory), '');
    },
    occurrences: () => numberOccurrences(points()),
    reached: (...wanted) =>
      untilWritten(pointsIn(directory), wanted.join(', '), () => includesInOrder(points(), wanted)),
  };
}

function includesInOrder(points: readonly string[], wanted: readonly string[]): boolean {
  let at = -1;
  return wanted.every((point) => (at = points.indexOf(point, at + 1)) >= 0);
}

/** Checks the condition on every write to the file. */
async function untilWritten(file: string, what: string, look: () => boolean): Promise<void> {
  const deadline = deadlineSignal(10_000);
  const watcher = fs.watch(file);
  try {
    await new Promise<void>((resolve, reject) => {
      const check = (): void => void (look() && resolve());
      onAbort(deadline, () => reject(new Error(`no sign of ${what}`)));
      watcher.on('change', check);
      check();
    });
  } finally {
    watcher.close();
  }
}

function numberOccurrences(points: readonly string[]): Occurrence[] {
  const seen = new Map<string, number>();
  return points.map((point) => {
    const skip = seen.get(point) ?? 0;
    seen.set(point, skip + 1);
    return { point, skip };
  });
}
