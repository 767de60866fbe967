/** The whole benchmark, small: that it measures what it says, and leaves nothing. Not how fast anything is. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { defaultAgentEntry } from '@podwire/testkit';
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

test('Podwire is measured beside them, and its agent', async () => {
  const binDir = path.resolve(import.meta.dirname, '../../../../bin');
  const podwire = { binDir, agent: defaultAgentEntry };
  const small = { pods: 2, workers: 2, warmUp: 1, endpoints: 12, idleSeconds: 1 };
  const result = await runBench(
    { ...defaultOptions, ...small, podwire },
    { signal: new AbortController().signal, progress: () => undefined },
  );
  assert.equal(result.measurements.length, 6 * 2 * 2);
  const own = result.measurements.filter(({ candidate }) => candidate.startsWith('podwire'));
  assert.ok(own.every(({ daemonTime }) => (daemonTime ?? 0) > 0));
  assert.equal(result.agent?.endpoints, 12);
  assert.ok(result.agent.residentBytes > 1e6 && result.agent.restart > 0);
  assert.ok(result.agent.cold.firstAdd > 0 && result.agent.cold.deletesPerSecond > 0);
  assert.equal(result.comparisons.length, 19);
  assert.match(formatReport(result), /agent resident with 12 endpoints/);
  assert.deepEqual(ownNamespaces(), []);
});

test('a plugin that fails ends the benchmark with what it said, and nothing is left', async () => {
  const options = { ...defaultOptions, pods: 2, peerBinDir: '/usr/bin' };
  const call = { signal: new AbortController().signal, progress: () => undefined };
  await assert.rejects(runBench(options, call), /ptp/);
  assert.deepEqual(ownNamespaces(), []);
});
