import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { endProcess } from '../../src/exec/end-process.js';

afterEach(() => vi.restoreAllMocks());

/** A shell as the leader of a group of its own, which has set its traps when this resolves. */
async function startGroup(script: string): Promise<ChildProcess & { readonly pid: number }> {
  const child = spawn('/bin/sh', ['-c', script], { detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
  await once(child.stdout, 'data');
  return child as unknown as ChildProcess & { readonly pid: number };
}

const { readdirSync } = fs;

describe('looking for what is left of a group costs little, since many plugins may hang at once', () => {
  test('while its leader lives no other process is looked for', async () => {
    const looks = vi.spyOn(fs, 'readdirSync');
    const leader = await startGroup('trap "" TERM; echo ready; while :; do sleep 600; done');
    let whileItLived = -1;
    leader.once('exit', () => (whileItLived = looks.mock.calls.length));
    await endProcess(-leader.pid, 50);
    await vi.waitUntil(() => whileItLived >= 0);
    expect(whileItLived).toBeLessThanOrEqual(1);
  });

  test('the grace is time, however long each look takes', async () => {
    const leader = await startGroup('(trap "" TERM; echo ready; while :; do sleep 600; done) & wait');
    leader.kill('SIGKILL');
    await once(leader, 'exit');
    const looks = vi.spyOn(fs, 'readdirSync').mockImplementation(((folder: string) => {
      const end = performance.now() + 40;
      while (performance.now() < end);
      return readdirSync(folder);
    }) as typeof fs.readdirSync);
    await endProcess(-leader.pid, 200);
    expect(looks.mock.calls.length).toBeLessThan(12);
  });
});
