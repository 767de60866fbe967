/** The whole benchmark, small: that it measures what it says, and leaves nothing. Not how fast anything is. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';
import { defaultOptions, formatReport, runBench } from '@podwire/bench';

const ownNamespaces = (): string[] =>
  fs.readdirSync('/run/netns').filter((name) => name.startsWith(`pwt-${process.pid}-`));

test('the peers are measured, and nothing is left', async () => {
  const phases = new Set<string>();
  const options = { ...defaultOptions, pods: 4, workers: 2, warmUp: 1 };
  const result = await runBench(options, {
    signal: new AbortController().signal,
    progress: ({ phase }) => phases.add(phase),
  });
  assert.deepEqual([...phases], ['warm up', 'one at a time, round 1', '2 at once, round 1']);
  assert.equal(result.measurements.length, 4 * 2 * 2);
  for (const { samples, podsPerSecond } of result.measurements) {
    assert.equal(samples.length, 4);
    assert.ok(podsPerSecond > 0);
  }
  assert.match(formatReport(result), /ptp \+ host-local \+ portmap \+ bandwidth +DEL/);
  assert.deepEqual(ownNamespaces(), []);
});

test('a plugin that fails ends the benchmark with what it said, and nothing is left', async () => {
  const options = { ...defaultOptions, pods: 2, peerBinDir: '/usr/bin' };
  const call = { signal: new AbortController().signal, progress: () => undefined };
  await assert.rejects(runBench(options, call), /ptp/);
  assert.deepEqual(ownNamespaces(), []);
});
