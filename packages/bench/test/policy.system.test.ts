/** The policy part of the benchmark, small: that it measures what it says. Not how fast anything is. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { formatPolicy, runPolicy } from '@podwire/bench';
import { defaultAgentEntry } from '@podwire/testkit';

const small = {
  ...{ binDir: path.resolve(import.meta.dirname, '../../../../bin'), agent: defaultAgentEntry },
  adds: { policies: 3, knownPods: 40, pods: 2, firsts: 2 },
  changes: { nodes: 2, pods: 40, podsPerNode: 1, policies: 3, changes: 3 },
  joins: { selectors: 3, knownPods: 40, rounds: 3 },
  namespaces: { pods: 4, podsOnNode: 2, rounds: 2 },
  compile: { pods: 60, policies: 5, rounds: 2 },
  agents: { knownPods: 40, policies: 3, podsOnNode: 2 },
  traffic: { sizes: [1, 3], rounds: 1, megabytes: 1, turns: 40 },
} as const;

test('what policy costs is measured', async () => {
  const phases = new Set<string>();
  const result = await runPolicy(small, {
    signal: new AbortController().signal,
    progress: ({ phase }) => phases.add(phase),
  });
  const { adds, changes, joins } = result;
  assert.deepEqual(
    [adds.without, adds.replica, adds.alone, adds.first].map(({ count }) => count),
    [2, 2, 2, 2],
  );
  assert.deepEqual([changes.written.count, changes.inForce.count, joins.wall.count], [3, 3, 3]);
  assert.ok([adds.ratios.first, changes.inForce.median, joins.exchange.median].every((one) => one > 0));
  assert.ok(phases.has('a policy changes'));
  const { namespaces, agents, traffic } = result;
  // Eight addresses in two sets, two elements for each of four links.
  assert.deepEqual([namespaces.flows, namespaces.size.elements, namespaces.ofLinks], [16, 16, 8]);
  assert.ok(namespaces.size.rules > 0 && namespaces.iptables > 0 && agents.resident.restarted > 1e6);
  assert.equal(traffic.length, 10);
  assert.ok(
    traffic.every(({ stream, turn, connection }) => [stream, turn, connection].every((one) => one > 0)),
  );
  const report = formatPolicy(result);
  assert.match(report, /3 policies, 40 known pods: a replica/);
  assert.match(report, /a pod joins 3 selectors, kernel time/);
});
