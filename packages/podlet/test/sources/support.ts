import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock, PodSource, Snapshot } from '../../src/contract.js';
import { formatProblem } from '@podwire/pod-spec';

export const realClock: Clock = {
  now: () => performance.timeOrigin + performance.now(),
  elapsed: () => performance.now(),
  sleep: (milliseconds, signal) => sleep(milliseconds, undefined, { signal }),
};

export function makeDirectory(): string {
  return fs.mkdtempSync(path.join(os.tmpdir(), 'podwire-source-'));
}

export function manifest(name: string, rest = 'image: busybox'): string {
  return `apiVersion: v1\nkind: Pod\nmetadata: {name: ${name}}\nspec: {containers: [{name: main, ${rest}}]}\n`;
}

/** A source that runs, and everything it has emitted. */
export interface Listener {
  readonly snapshots: readonly Snapshot[];
  readonly latest: Snapshot | undefined;
  /** Waits until the latest snapshot is such, or the test's own time is over. */
  until(this: void, condition: (snapshot: Snapshot) => boolean): Promise<Snapshot>;
  stop(this: void): Promise<void>;
}

export function listen(source: PodSource): Listener {
  const stop = new AbortController();
  const snapshots: Snapshot[] = [];
  const waiting = new Set<() => void>();
  const done = source.run((snapshot) => {
    snapshots.push(snapshot);
    for (const look of waiting) look();
  }, stop.signal);
  return {
    snapshots,
    get latest() {
      return snapshots.at(-1);
    },
    until: (condition) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const latest = snapshots.at(-1);
          if (latest === undefined || !condition(latest)) return;
          waiting.delete(look);
          resolve(latest);
        };
        done.catch(reject);
        waiting.add(look);
        look();
      }),
    async stop() {
      stop.abort();
      await done;
    },
  };
}

export function namesOf({ pods }: Snapshot): string {
  return pods.map(({ metadata }) => metadata.name).join(' ');
}

export function uidsOf({ pods }: Snapshot): string[] {
  return pods.map(({ metadata }) => metadata.uid);
}

/** Without the directory, which is another one each time. */
export function problemsOf({ problems }: Snapshot): string[] {
  return problems.map((problem) => formatProblem({ ...problem, origin: path.basename(problem.origin) }));
}
