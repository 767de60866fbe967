import { describe, expect, test, vi } from 'vitest';
import type { Io } from '../src/io.js';
import { startProgress } from '../src/render/progress.js';

function fakeIo(isTTY: boolean): { io: Io; written: () => string } {
  let text = '';
  const stderr = { write: (more: string) => void (text += more), isTTY, columns: 20 };
  const io: Io = { stdout: stderr, stderr, env: { NO_COLOR: '1' }, now: () => 0, color: true, exitCode: 0 };
  return { io, written: () => text };
}

describe('progress', () => {
  test('in a pipe: one plain line for each step', async () => {
    const { io, written } = fakeIo(false);
    const progress = startProgress(io);
    expect(await progress.step('one', () => Promise.resolve(1))).toBe(1);
    await expect(progress.step('two', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    progress.show('three', '1/9');
    progress.show('three', '2/9');
    progress.end();
    expect(written().replaceAll(/\d+\.\d+ ms/g, 'T')).toBe('✓ one T\n✗ two T\nthree\n');
  });

  test('a step that is not over gets no tick', async () => {
    const { io, written } = fakeIo(false);
    const progress = startProgress(io);
    const words = {
      doing: 'ending',
      done: 'ended',
      open: (left: number) => (left > 0 ? `${left} left` : undefined),
    };
    await progress.step(words, () => Promise.resolve(2));
    await progress.step(words, () => Promise.resolve(0));
    await expect(progress.step(words, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(written().replaceAll(/\d+\.\d+ ms/g, 'T')).toBe('… 2 left T\n✓ ended T\n✗ ending T\n');
  });

  test('on a terminal: a line that changes, is no wider than the screen, and goes away', () => {
    vi.useFakeTimers();
    try {
      const { io, written } = fakeIo(true);
      const progress = startProgress(io);
      progress.show('a long description of what is done', '1/9');
      vi.advanceTimersByTime(200);
      progress.end();
      vi.advanceTimersByTime(1000);
      const frames = written().split('\r\u001b[K').slice(1);
      expect(frames.length).toBe(3);
      expect(frames.at(-1)).toBe('');
      for (const frame of frames) expect(frame.length).toBeLessThan(20);
    } finally {
      vi.useRealTimers();
    }
  });
});
