/** Leaders die and are succeeded, wall clocks jump, nodes flap: no node is released before its time, and every node after it. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createTestCluster, hour, type Running, evictionTimeout } from './cluster.js';

const nodes = ['n1', 'n2'] as const;
/** The second counts on more than the controllers were told. */
const patience = { n1: evictionTimeout, n2: 1.5 * evictionTimeout };

type Step =
  | { readonly what: 'pass'; readonly hours: number }
  | { readonly what: 'leave' | 'arrive'; readonly node: (typeof nodes)[number] }
  | { readonly what: 'jump'; readonly hours: number }
  | { readonly what: 'kill' | 'stop' | 'start' };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ what: fc.constant('pass' as const), hours: fc.integer({ min: 1, max: 20 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      what: fc.constantFrom('leave' as const, 'arrive' as const),
      node: fc.constantFrom(...nodes),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ what: fc.constant('jump' as const), hours: fc.integer({ min: -60, max: 60 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ what: fc.constantFrom('kill' as const, 'stop' as const, 'start' as const) }),
  },
);

test('a node is released when it was away for long enough, and never before', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const cluster = createTestCluster();
      const { clock, keys } = cluster;
      /** True time of the last departure; undefined while it is there. */
      const leftAt = new Map<string, number | undefined>();
      await cluster.pool();
      for (const node of nodes) {
        await cluster.arrive(node, undefined, { vanishAfter: patience[node] });
        leftAt.set(node, undefined);
      }
      let leader: Running | undefined = cluster.startController();
      const watched = watchReleases(cluster, leftAt);
      for (const each of steps) {
        switch (each.what) {
          case 'pass':
            await clock.advance(each.hours * hour);
            break;
          case 'leave':
            if (leftAt.get(each.node) === undefined) leftAt.set(each.node, clock.elapsed());
            await cluster.leave(each.node);
            break;
          case 'arrive':
            leftAt.set(each.node, undefined);
            await cluster.arrive(each.node, undefined, { vanishAfter: patience[each.node] });
            break;
          case 'jump':
            leader?.clock.jump(each.hours * hour);
            break;
          case 'kill':
          case 'stop':
            await leader?.[each.what]();
            leader = undefined;
            break;
          case 'start':
            leader ??= cluster.startController('next', 0);
        }
      }
      if (leader === undefined) cluster.startController('last');
      // Beyond what a wall clock that was set back can cost.
      await clock.advance(patience.n2 + 70 * hour);
      for (const [node, since] of leftAt) {
        expect([node, await cluster.stateOf(node)]).toEqual([
          node,
          since === undefined ? 'ready' : undefined,
        ]);
      }
      await watched.stop();
      await cluster.stopAll();
      expect(watched.early).toEqual([]);
      expect((await cluster.store.get(keys.leader))?.value).toBeUndefined();
    }),
    { numRuns: 40 },
  );
});

/** Looks at true time whenever a node object goes. */
function watchReleases(
  { store, keys, clock }: ReturnType<typeof createTestCluster>,
  leftAt: ReadonlyMap<string, number | undefined>,
) {
  const early: string[] = [];
  const stopped = new AbortController();
  const prefix = `${keys.root}/shared/nodes/`;
  const ended = (async () => {
    for await (const batch of store.watch(prefix, { signal: stopped.signal })) {
      if (batch.type === 'snapshot') continue;
      for (const change of batch.changes) {
        if (change.type !== 'delete') continue;
        const node = change.key.slice(prefix.length) as keyof typeof patience;
        const since = leftAt.get(node);
        const away = since === undefined ? 0 : clock.elapsed() - since;
        if (away < patience[node]) early.push(`${change.key} after ${away / hour} h`);
      }
    }
  })().catch(() => undefined);
  return {
    early,
    async stop() {
      stopped.abort();
      await ended;
    },
  };
}
