/** The part of the benchmark that is about the model ovn, small: that it measures what it says. Not how fast anything is. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { formatOvn, runOvn } from '@podwire/bench';
import { defaultAgentEntry } from '@podwire/testkit';

const small = {
  ...{ binDir: path.resolve(import.meta.dirname, '../../../../bin'), agent: defaultAgentEntry },
  adds: { pods: 2, burst: { pods: 3, rounds: 1 } },
  throughput: { rounds: 1, megabytes: 1 },
  sync: { pods: 5, subnets: 2 },
} as const;

test('what the model ovn costs is measured', async () => {
  const phases = new Set<string>();
  const result = await runOvn(small, {
    signal: new AbortController().signal,
    progress: ({ phase }) => phases.add(phase),
  });
  const { answered, reached, deleted, bare, burst } = result.adds;
  for (const { count, minimum } of [answered, reached, deleted, bare]) assert.ok(count === 2 && minimum > 0);
  assert.ok(reached.median > answered.median);
  assert.deepEqual([burst.count, burst.podwire.length, burst.bare.length], [3, 1, 1]);
  const { onNode, between } = result.throughput;
  assert.ok([burst.ratio, onNode.ratio, between.ratio].every((ratio) => ratio > 0));
  assert.deepEqual([result.sync.pods, result.sync.subnets], [5, 2]);
  assert.ok(result.sync.time > 0 && result.sync.residentBytes > 1e6);
  assert.deepEqual(
    [...phases],
    [
      ...['ADD of the model ovn', '3 pods of the model ovn at once', 'TCP between pods of the model ovn'],
      'the controller of the model ovn',
    ],
  );
  const report = formatOvn(result);
  assert.match(
    report,
    /^ADD until a ping, p50, beyond rows alone +-?[\d.]+ ms +at most 10.0 ms +(met|MISSED)$/m,
  );
  assert.match(report, /^3 pods at once, rate of rows alone +[\d.]+ × +at least 0.900 × +(met|MISSED)$/m);
  assert.doesNotMatch(report, /NaN|undefined/);
});
