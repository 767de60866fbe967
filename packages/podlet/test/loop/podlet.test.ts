import { describe, expect, it } from 'vitest';
import { createBench } from './fixture.js';
import { aPod } from './pods.js';

describe('a pod of a file', () => {
  it('runs, at once', async () => {
    const bench = createBench();
    const podlet = bench.start();
    bench.file.say([aPod()]);
    await bench.clock.settle();
    const view = podlet.view('uid-web');
    expect(view?.status.phase).toBe('Running');
    expect(view?.status.podIP).toBe('10.0.0.1');
    await podlet.stop();
  });
});
