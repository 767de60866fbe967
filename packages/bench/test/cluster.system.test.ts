/** The cluster's part of the benchmark, small: that it measures what it says, and leaves nothing. Not how fast anything is. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { defaultAgentEntry } from '@podwire/testkit';
import { formatCluster, runCluster } from '@podwire/bench';

const binDir = path.resolve(import.meta.dirname, '../../../../bin');

const small = {
  ...{ binDir, agent: defaultAgentEntry, pods: 3, warmUp: 1, allocations: 2_000 },
  disturbed: { endpoints: 20, addsPerRound: 10, rounds: 1 },
  burst: { nodes: 2, podsPerNode: 3, rounds: 1 },
  claims: { blocks: 200, claims: 3 },
  newcomers: { followers: 3, newcomers: 2 },
  peers: 40,
  throughput: { rounds: 1, megabytes: 2 },
  simulation: { nodes: [3, 10], podsPerNode: 5, followedBlocks: 100 },
} as const;

const ownNamespaces = (): string[] =>
  fs.readdirSync('/run/netns').filter((name) => name.startsWith(`pwt-${process.pid}-`));

/** Programs that this process has started and that run still: etcd, agents, servers. */
const children = (): string[] =>
  fs
    .readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const status = fs.readFileSync(`/proc/${pid}/status`, 'utf8');
        return status.includes(`\nPPid:\t${process.pid}\n`) && !status.includes('\nState:\tZ');
      } catch {
        return false; // it has ended meanwhile
      }
    });

test('many nodes are measured, and nothing is left', async () => {
  const phases = new Set<string>();
  const before = children();
  const result = await runCluster(small, {
    signal: new AbortController().signal,
    progress: ({ phase }) => phases.add(phase),
  });
  assert.deepEqual(
    ['TCP, vxlan, IPv6', 'ADD and DEL in a cluster, etcd stopped', 'simulation of 10 nodes'].filter(
      (phase) => !phases.has(phase),
    ),
    [],
  );
  const { adds, disturbed, burst, addresses, claims, throughput, simulations } = result;
  for (const { add, del } of [adds.up, adds.stopped])
    assert.deepEqual([add.alone.count, add.member.count, del.member.count], [3, 3, 3]);
  const { undisturbed, excess, reconciles, pools } = disturbed;
  assert.deepEqual([disturbed.endpoints, undisturbed.count, disturbed.disturbed.count % 10], [20, 10, 0]);
  assert.equal(excess, disturbed.disturbed.p99 - undisturbed.p99);
  assert.ok(undisturbed.minimum > 0 && disturbed.disturbed.minimum > 0 && reconciles >= 2 && pools > 0);
  assert.deepEqual([burst.pods, addresses.addresses], [6, 6]);
  assert.ok(claims.roundTrips >= 1 && claims.latency.count === 3);
  assert.equal(throughput.length, 4);
  assert.ok(throughput.every(({ podwire, byHand }) => podwire.length === 1 && byHand.length === 1));
  assert.deepEqual(
    simulations.map(({ pods }) => pods),
    [15, 50],
  );
  const report = formatCluster(result);
  assert.match(report, /^the same with etcd stopped +[\d.]+ × +at most 1.15 × +(met|MISSED)$/m);
  assert.match(report, /^ADD, 20 endpoints, disturbed( +[\d.]+){3} +\d+0$/m);
  assert.match(report, /^the difference +-?[\d.]+ ms +at most 20.0 ms +(met|MISSED)$/m);
  assert.match(report, /^agent with 40 peers, resident +[\d.]+ MB +at most 200 MB/m);
  assert.doesNotMatch(report, /NaN|undefined| - +[×/]/);
  assert.deepEqual(ownNamespaces(), []);
  assert.deepEqual(children(), before);
});

test('a failure in the middle leaves nothing either', async () => {
  const before = children();
  const broken = { ...small, agent: ['/bin/false'], throughput: { rounds: 0, megabytes: 1 } };
  const call = { signal: new AbortController().signal, progress: () => undefined };
  await assert.rejects(runCluster(broken, call), /the agent ended with 1/);
  assert.deepEqual(ownNamespaces(), []);
  assert.deepEqual(children(), before);
});

test('who interrupts it is heard', async () => {
  const before = children();
  const over = new AbortController();
  const progress = (): void => over.abort(new Error('interrupted'));
  await assert.rejects(runCluster(small, { signal: over.signal, progress }), /interrupted/);
  assert.deepEqual(ownNamespaces(), []);
  assert.deepEqual(children(), before);
});
