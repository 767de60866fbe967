import { spawn } from 'node:child_process';
import { expect, test } from 'vitest';
import type { Io } from '../../src/io.js';
import { untilEnd } from '../../src/testbed/exec.js';

const io = { stderr: { write: () => undefined } } as unknown as Io;

test.each([
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const)('%s ends the program too', async (signal, code) => {
  const listeners = process.listenerCount(signal);
  const ended = untilEnd(io, spawn('sleep', ['1000'], { stdio: 'ignore' }));
  expect(process.emit(signal, signal)).toBe(true);
  expect(await ended).toBe(code);
  expect(process.listenerCount(signal)).toBe(listeners);
});
