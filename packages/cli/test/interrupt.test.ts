import fs from 'node:fs';
import { expect, test } from 'vitest';
import { InterruptedError } from '../src/failure.js';
import { breakOutput, untilInterrupted, withInterrupt } from '../src/interrupt.js';
import { exitCodes, type Io } from '../src/io.js';

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));

test('a pipe that breaks, and breaks again while things are put away, ends the work once', async () => {
  const steps: string[] = [];
  const work = withInterrupt(async (signal) => {
    const over = aborted(signal);
    expect(breakOutput()).toBe(true);
    await over;
    expect(breakOutput()).toBe(true);
    steps.push('put away');
  });
  await expect(work).rejects.toEqual(new InterruptedError('SIGPIPE'));
  expect(steps).toEqual(['put away']);
  expect(breakOutput()).toBe(false);
});

test('a command that runs until it is interrupted says so with its exit code', async () => {
  const io = { exitCode: 0 } as Io;
  await untilInterrupted(io, async (signal) => {
    const over = aborted(signal);
    breakOutput();
    await over;
  });
  expect(io.exitCode).toBe(exitCodes.SIGPIPE);
});

/** Bit 12 is SIGPIPE, the signal 13 (proc_pid_status(5)). */
function ignoresSigpipe(): boolean {
  const [, mask] = /^SigIgn:\s*(\w+)$/m.exec(fs.readFileSync('/proc/self/status', 'utf8'))!;
  return (BigInt(`0x${mask}`) & (1n << 12n)) !== 0n;
}

test('a socket whose other side has gone ends neither the work nor, afterwards, the process', async () => {
  expect(await withInterrupt(() => Promise.resolve(ignoresSigpipe()))).toBe(true);
  expect(ignoresSigpipe()).toBe(true);
});
