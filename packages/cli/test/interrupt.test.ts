import { expect, test } from 'vitest';
import { InterruptedError } from '../src/failure.js';
import { untilInterrupted, withInterrupt } from '../src/interrupt.js';
import { exitCodes, type Io } from '../src/io.js';

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));

/** As `main.ts` does when a write finds that nobody reads any more. */
const breakPipe = (): boolean => process.emit('SIGPIPE', 'SIGPIPE');

test('a pipe that breaks, and breaks again while things are put away, ends the work once', async () => {
  const steps: string[] = [];
  const work = withInterrupt(async (signal) => {
    const over = aborted(signal);
    expect(breakPipe()).toBe(true);
    await over;
    expect(breakPipe()).toBe(true);
    steps.push('put away');
  });
  await expect(work).rejects.toEqual(new InterruptedError('SIGPIPE'));
  expect(steps).toEqual(['put away']);
  expect(breakPipe()).toBe(false);
});

test('what goes on until somebody ends it says so with its exit code', async () => {
  const io = { exitCode: 0 } as Io;
  await untilInterrupted(io, async (signal) => {
    const over = aborted(signal);
    breakPipe();
    await over;
  });
  expect(io.exitCode).toBe(exitCodes.SIGPIPE);
});
