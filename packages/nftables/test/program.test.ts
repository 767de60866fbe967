import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { findNft, loadRuleset, NftProgramError, runNft } from '../src/program.js';

let directory: string;

beforeAll(() => (directory = fs.mkdtempSync(path.join(os.tmpdir(), 'nft-program-'))));
afterAll(() => fs.rmSync(directory, { recursive: true }));

/** A program in nft's place. */
function program(name: string, body: string): string {
  const file = path.join(directory, name);
  fs.writeFileSync(file, `#!/bin/sh\n${body}\n`, { mode: 0o755 });
  return file;
}

const { signal } = new AbortController();

describe('runNft', () => {
  it('passes arguments and script unchanged, in a clean environment', async () => {
    const nftPath = program('echo', 'for a in "$@"; do echo "<$a>"; done; cat; echo "$LC_ALL:$HOME"; pwd');
    const output = await runNft(['-f', '- ; $(x)'], 'line 1\nline 2\n', { signal, nftPath });
    expect(output).toBe('<-f>\n<- ; $(x)>\nline 1\nline 2\nC:\n/\n');
  });

  it('survives a program that does not read its input', async () => {
    const nftPath = program('deaf', 'exec 0<&-; echo done');
    expect(await runNft([], 'x'.repeat(1 << 20), { signal, nftPath })).toBe('done\n');
  });

  it('names the failing line and what nft said', async () => {
    const complaint = '/dev/stdin:2:5-8: Error: Could not process rule: No such file or directory';
    const nftPath = program('failing', `cat >/dev/null; echo '${complaint}' >&2; exit 1`);
    const error = await loadRuleset('first\n  second\nthird', { signal, nftPath }).catch(
      (error: unknown) => error,
    );
    expect(error).toBeInstanceOf(NftProgramError);
    expect(error).toMatchObject({
      code: 'ENOENT',
      line: { number: 2, text: 'second' },
      stderr: `${complaint}\n`,
    });
    expect(String(error)).toContain(
      'line 2: second: ENOENT (Could not process rule: No such file or directory)',
    );
  });

  it('tells a crash from a refusal', async () => {
    const nftPath = program('crashing', 'kill -SEGV $$');
    await expect(runNft([], '', { signal, nftPath })).rejects.toThrow(/ENFT \(killed by SIGSEGV\)/);
    const absent = path.join(directory, 'absent');
    await expect(runNft([], '', { signal, nftPath: absent })).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('kills the whole process group at the deadline', async () => {
    const pids = path.join(directory, 'pids');
    const nftPath = program('hanging', `sleep 600 & echo $! $$ > ${pids}.new; mv ${pids}.new ${pids}; wait`);
    const deadline = new AbortController();
    const running = runNft([], '', { signal: deadline.signal, nftPath });
    await appearance(pids);
    const [child, self] = fs.readFileSync(pids, 'utf8').split(' ').map(Number);
    deadline.abort(new Error('too late'));
    await expect(running).rejects.toThrow('too late');
    await Promise.all([child!, self!].map(disappearance));
  });

  it('kills it after its own time as well, and says so', async () => {
    const nftPath = program('slow', 'exec sleep 600');
    await expect(runNft(['-f', '-'], '', { signal, nftPath, timeout: 50 })).rejects.toMatchObject({
      code: 'ETIMEDOUT',
      message: 'nft -f -: ETIMEDOUT (no end after 50 ms)',
    });
  });

  it('kills it after 30 seconds when the caller has set no deadline', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const running = runNft(['-f', '-'], '', { nftPath: program('endless', 'exec sleep 600') });
      const outcome = expect(running).rejects.toThrow('nft -f -: ETIMEDOUT (no end after 30000 ms)');
      vi.advanceTimersByTime(30_000);
      await outcome;
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('findNft', () => {
  it('finds an absolute path', () => expect(findNft()).toMatch(/^\/.*\/nft$/));
});

async function appearance(file: string): Promise<void> {
  if (fs.existsSync(file)) return;
  await new Promise<void>((resolve) => {
    const watcher = fs.watch(path.dirname(file), () => {
      if (!fs.existsSync(file)) return;
      watcher.close();
      resolve();
    });
    if (fs.existsSync(file)) {
      watcher.close();
      resolve();
    }
  });
}

/** Resolves when a process is gone, or waits only for its parent to collect it. */
async function disappearance(pid: number): Promise<void> {
  while (isRunning(pid)) await new Promise((resolve) => setTimeout(resolve, 5));
}

function isRunning(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/.test(fs.readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
