/** The part of the benchmark that is about the model sdn, small: that it measures what it says. Not how fast anything is. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { formatSdn, runSdn } from '@podwire/bench';
import { defaultAgentEntry } from '@podwire/testkit';

const small = {
  ...{ binDir: path.resolve(import.meta.dirname, '../../../../bin'), agent: defaultAgentEntry },
  peerBinDir: '/usr/lib/cni',
  adds: { pods: 2, rounds: 1 },
  rates: { flows: 50, ports: 3, rounds: 1 },
  throughput: { rounds: 1, megabytes: 1 },
} as const;

test('what the model sdn costs is measured', async () => {
  const phases = new Set<string>();
  const result = await runSdn(small, {
    signal: new AbortController().signal,
    progress: ({ phase }) => phases.add(phase),
  });
  const { measurements, port } = result.adds;
  assert.deepEqual(
    measurements.map(({ candidate, operation, summary }) => [candidate, operation, summary.count]),
    [
      ['podwire', 'ADD', 2],
      ['sdn', 'ADD', 2],
      ['commands', 'ADD', 2],
      ['podwire', 'DEL', 2],
      ['sdn', 'DEL', 2],
      ['commands', 'DEL', 2],
    ],
  );
  assert.ok(port.count === 2 && port.minimum > 0);
  const { flows, ports } = result.rates;
  assert.deepEqual([flows.count, ports.count], [50, 3]);
  assert.ok([flows.podwire, flows.ratio, ports.podwire, ports.ratioEach].every((figure) => figure > 0));
  assert.deepEqual([result.throughput.podwire.length, result.throughput.byHand.length], [1, 1]);
  assert.deepEqual(
    [...phases],
    ['ADD and DEL of the model sdn', '50 flows in a bundle', '3 ports', 'TCP between pods of the model sdn'],
  );
  const report = formatSdn(result);
  assert.match(report, /^ADD p50, of one port and 1.5 ADDs .* +[\d.]+ × +at most 1.00 × +(met|MISSED)$/m);
  assert.match(report, /^ADD p50, of that by commands +[\d.]+ × +at most 0.150 × +(met|MISSED)$/m);
  assert.doesNotMatch(report, /NaN|undefined| - +[×/]/);
});
