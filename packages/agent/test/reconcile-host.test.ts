import { expect, test } from 'vitest';
import { reconcile } from '../src/reconcile.js';
import { loadRecords } from '../src/recovery.js';
import { createTestCluster } from './fakes/cluster.js';
import { ordinaryHost } from './fakes/harness.js';
import { createPolicyWorld } from './fakes/policy-world.js';

// With a thousand pods a look takes some 40 ms, in which no request is served.
test('a reconcile looks at the host once, for the node, its cluster and policy', async () => {
  let looks = 0;
  const readHost = () => {
    looks += 1;
    return ordinaryHost;
  };
  const policy = createPolicyWorld();
  const node = createTestCluster().node('n1', { dependencies: { readHost, policy } });
  loadRecords(node.context);
  node.context.policy!.start();
  await node.member.join({ ...node.context, loop: node.reconciler });
  policy.tell([]);
  await node.context.policy!.begun;
  looks = 0;
  const { signal } = new AbortController();
  await reconcile(node.context, { signal, elapsed: () => 0, alone: false });
  expect(looks).toBe(1);
  await node.context.policy!.stop();
});
