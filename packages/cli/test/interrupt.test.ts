import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { expect, test } from 'vitest';
import { withDeadline } from '../src/interrupt.js';

const untilAborted = (signal: AbortSignal): Promise<unknown> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(signal.reason), { once: true }));

test('time is up, or whoever called it off', async () => {
  const never = new AbortController().signal;
  await expect(withDeadline(never, 1, untilAborted)).resolves.toMatchObject({ name: 'TimeoutError' });
  const called = new AbortController();
  const outcome = withDeadline(called.signal, 60_000, untilAborted);
  called.abort('enough');
  await expect(outcome).resolves.toBe('enough');
  await expect(
    withDeadline(called.signal, 60_000, (signal) => Promise.resolve(signal.aborted)),
  ).resolves.toBe(true);
});

test('also when nobody holds the signal but its listener, and garbage is collected', () => {
  const module = path.resolve(import.meta.dirname, '../dist/src/interrupt.js');
  const program = `
    const { withDeadline } = await import(${JSON.stringify(module)});
    const keep = setTimeout(() => process.exit(1), 5000);
    const collect = setInterval(globalThis.gc, 10);
    const wait = (signal) => new Promise((resolve) => signal.addEventListener('abort', resolve));
    await withDeadline(new AbortController().signal, 100, wait);
    clearInterval(collect); clearTimeout(keep);
  `;
  const { status, stderr } = spawnSync(
    process.execPath,
    ['--expose-gc', '--input-type=module', '-e', program],
    { encoding: 'utf8', timeout: 20_000 },
  );
  expect(stderr).toBe('');
  expect(status).toBe(0);
});
