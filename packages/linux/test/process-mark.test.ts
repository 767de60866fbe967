import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import { endProcesses, isAlive, markProcess, mountsBelow, listEnvironmentProcesses } from '../src/index.js';
import { readStat } from '../src/process-mark.js';

const started: ReturnType<typeof spawn>[] = [];
async function startSleep(...words: string[]): Promise<number> {
  const child = spawn('/bin/sh', ['-c', 'trap "" TERM; echo ready; sleep 60 & wait', 'sh', ...words], {
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  });
  started.push(child);
  await once(child.stdout, 'data');
  return child.pid!;
}
afterAll(() => {
  for (const { pid } of started)
    try {
      process.kill(-pid!, 'SIGKILL');
    } catch {
      // it has ended
    }
});

const stat = (state: string, threads: number): string =>
  `42 (a) Z 1 (b)) ${state} ${Array.from({ length: 16 }, () => '0').join(' ')} ${threads} 0 7700 0 0\n`;

describe('a process', () => {
  test.each([
    ['S', 3, '7700'],
    ['Z', 1, undefined],
    ['Z', 0, undefined],
    ['Z', 3, '7700'],
    ['X', 1, undefined],
  ])('in state %s with %d threads has the start time %s', (state, threads, start) => {
    expect(readStat(stat(state, threads))).toBe(start);
  });

  test('is told from another that gets its id later', () => {
    const own = markProcess('test', process.pid);
    expect(isAlive(own)).toBe(true);
    expect(isAlive({ ...own, startTime: `${Number(own.startTime) - 1}` })).toBe(false);
  });

  test('that was never there does not live', () => {
    expect(isAlive(markProcess('nobody', 2 ** 22 + 1))).toBe(false);
  });

  test('that is frozen ends all the same', async () => {
    const pid = await startSleep();
    const mark = markProcess('sleeper', pid);
    process.kill(pid, 'SIGSTOP');
    expect(isAlive(mark)).toBe(true);
    await endProcesses([mark], { now: true });
    expect(isAlive(mark)).toBe(false);
    await endProcesses([mark]);
  });
});

describe('an environment', () => {
  test('of no namespace and an unused directory has no processes', () => {
    expect(listEnvironmentProcesses(new Set(), '/unused/directory')).toEqual([]);
  });

  test('does not have those that name its directory in the namespace of the machine: an editor, perhaps', async () => {
    const pid = await startSleep('/run/some-directory/file');
    expect(listEnvironmentProcesses(new Set(), '/run/some-directory').map((each) => each.pid)).not.toContain(
      pid,
    );
  });
});

test('mounts below a directory, not the directory itself', () => {
  const all = mountsBelow('');
  expect(all.length).toBeGreaterThan(1);
  expect(mountsBelow('/proc').every(({ path }) => path.startsWith('/proc/'))).toBe(true);
  expect(fs.readFileSync('/proc/self/mountinfo', 'utf8')).toContain(all[0]!.path);
});
