/** Says what is under way when it takes more than a second. */
import type { Io } from '../io.js';
import { type Progress, startProgress } from '../render/progress.js';

const patience = 1_000;

export async function withSlowProgress<T>(io: Io, what: string, work: () => Promise<T>): Promise<T> {
  let progress: Progress | undefined;
  const timer = setTimeout(() => {
    progress = startProgress(io);
    progress.show(what);
  }, patience).unref();
  try {
    return await work();
  } finally {
    clearTimeout(timer);
    progress?.end();
  }
}
