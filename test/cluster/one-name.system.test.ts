/** Ten agents are given the same name. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '@podwire/testkit';
import { createCluster } from './support/cluster.js';
import { readStore } from './support/store-view.js';

test('ten agents of one name at once: exactly one serves', { timeout: 120_000 }, async (t) => {
  const cluster = await createCluster({
    ...{ name: 'ten', nodes: 0, hosts: 10 },
    pools: [{ name: 'v4', cidr: '10.244.0.0/18' }],
    cluster: () => ({ controller: false }),
  });
  t.after(() => cluster.close());
  const all = Array.from({ length: 10 }, (_, index) => index);
  // Nine of them never serve; who does is asked below, whenever that is.
  await Promise.allSettled(all.map((index) => cluster.startNode('n1', index, 5_000)));
  const calls = all.map((index) => cluster.callsOf('n1', index));
  await eventually('each knows where it stands', async () => {
    const standings = await Promise.all(
      calls.map((node) =>
        node.status().then(
          ({ ready, cluster: { standing } }) => `${standing}${ready ? ' and ready' : ''}`,
          () => 'starting',
        ),
      ),
    );
    const taken = standings.filter((standing) => standing === 'taken').length;
    return (taken === 9 && standings.includes('registered and ready')) || standings.join(', ');
  });
  const answers = await Promise.all(calls.map((node) => node.tryAdd()));
  const refusals = answers.filter((answer) => typeof answer === 'string');
  assert.equal(refusals.length, 9);
  for (const refusal of refusals)
    assert.match(refusal, /^NODE_NAME_TAKEN: the node name n1 is taken by another agent/);
  const { blocks, nodes } = await readStore(cluster.etcd);
  const instance = nodes.get('n1')!.value.instance;
  assert.ok([...blocks.values()].every(({ value }) => value.instance === instance));
});
