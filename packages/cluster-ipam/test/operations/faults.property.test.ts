/** Requests and answers get lost, and others write at the same moment: whatever is done again comes to the same end. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Fault } from '@podwire/store/memory';
import {
  checkCluster,
  type ClusterAccess,
  createPool,
  deletePool,
  fixCluster,
  migratePool,
  readCluster,
  releaseNode,
  splitPool,
} from '../../src/operations/index.js';
import { createTestCluster, failureOf, type TestCluster } from './cluster.js';

/** Fate of one call after the other; after the last, all go well. */
const plan = fc.array(
  fc.option(fc.constantFrom<Fault>('unavailable', 'request-lost', 'answer-lost', 'conflict'), {
    nil: undefined,
  }),
  { maxLength: 30 },
);

/** Its own way to the store, where things go wrong as planned. */
function faultyAccess(
  { server, access }: TestCluster,
  faults: readonly (Fault | undefined)[],
): ClusterAccess {
  const left = [...faults];
  return { ...access, store: server.connect({ decide: () => left.shift() }) };
}

/** Again and again, as people and controllers do, until it does not fail for want of a store or of luck. */
async function untilDone(work: () => Promise<unknown>): Promise<void> {
  for (let attempt = 0; attempt < 40; attempt++) {
    const failure = await work().then(
      () => undefined,
      (error: unknown) => error as Error & { code?: string },
    );
    if (failure === undefined) return;
    if (!['STORE_UNAVAILABLE', 'STORE_CONFLICT'].includes(failure.code ?? '')) throw failure;
  }
  throw new Error('it is never done');
}

async function createCluster(): Promise<TestCluster> {
  const cluster = createTestCluster();
  await cluster.pool({ cidr: '10.244.0.0/16' });
  await cluster.node('n1');
  await cluster.node('n2', { present: false });
  await cluster.block('10.244.0.0/26', 'n1', { loans: [{ address: '10.244.0.9', node: 'n2' }] });
  await cluster.block('10.244.1.0/26', 'n2', { loans: [{ address: '10.244.1.9', node: 'n1' }] });
  await cluster.block('10.244.2.0/26', 'n2');
  await cluster.record('10.244.0.0/26', 'n1', ['10.244.0.5']);
  await cluster.record('10.244.0.0/26', 'n2', ['10.244.0.9']);
  await cluster.record('10.244.1.0/26', 'n1', ['10.244.1.9']);
  await cluster.record('10.244.2.0/26', 'n2', ['10.244.2.1']);
  cluster.clock.advance(3_600_000);
  return cluster;
}

const codeOf = async (work: Promise<unknown>): Promise<string | undefined> =>
  work.then(
    () => undefined,
    (error: unknown) => (error as { code?: string }).code,
  );

test('a node is released whole, and what others have stays', async () => {
  await fc.assert(
    fc.asyncProperty(plan, async (faults) => {
      const cluster = await createCluster();
      const access = faultyAccess(cluster, faults);
      await untilDone(async () => {
        // A caller with an uncertain last write finds nothing the next time.
        const code = await codeOf(releaseNode(access, 'n2', {}, cluster.signal));
        if (code !== undefined && code !== 'NODE_UNKNOWN') throw Object.assign(new Error(code), { code });
      });
      const { blocks, allocationRecords, nodes } = await readCluster(cluster.access, cluster.signal);
      expect([...nodes.keys()]).toEqual(['n1']);
      expect([...blocks.values()].map(({ value }) => [value.cidr, value.node, value.loans])).toEqual([
        ['10.244.0.0/26', 'n1', []],
        ['10.244.1.0/26', undefined, [{ address: '10.244.1.9', node: 'n1' }]],
      ]);
      expect(allocationRecords.map(({ value }) => value.node)).toEqual(['n1', 'n1']);
      expect((await checkCluster(cluster.access, {}, cluster.signal)).problems).toEqual([]);
    }),
    { numRuns: 150 },
  );
});

test('repairs come to the same end', async () => {
  await fc.assert(
    fc.asyncProperty(plan, async (faults) => {
      const cluster = await createCluster();
      await cluster.block('10.244.9.0/26', 'gone', { loans: [{ address: '10.244.9.1', node: 'n1' }] });
      await cluster.record('10.244.9.0/26', 'gone', ['10.244.9.2']);
      await cluster.record('10.244.9.0/26', 'n1', ['10.244.9.1']);
      await cluster.block('10.244.10.0/26', undefined);
      cluster.clock.advance(3_600_000);
      const access = faultyAccess(cluster, faults);
      await untilDone(async () => {
        const { left } = await fixCluster(access, {}, cluster.signal);
        if (left.length > 0) throw Object.assign(new Error('left'), { code: 'STORE_CONFLICT' });
      });
      const { blocks } = await readCluster(cluster.access, cluster.signal);
      expect(blocks.has('10.244.10.0/26')).toBe(false);
      expect(blocks.get('10.244.9.0/26')?.value).toMatchObject({
        loans: [{ address: '10.244.9.1', node: 'n1' }],
      });
      expect(blocks.get('10.244.0.0/26')?.value.loans).toHaveLength(1);
    }),
    { numRuns: 150 },
  );
});

test('pools are whole at every moment', async () => {
  const names = [
    'STORE_UNAVAILABLE',
    'STORE_CONFLICT',
    'POOL_INVALID',
    'POOL_UNKNOWN',
    'POOL_IN_USE',
    undefined,
  ];
  await fc.assert(
    fc.asyncProperty(plan, async (faults) => {
      const cluster = await createCluster();
      const { signal } = cluster;
      const access = faultyAccess(cluster, faults);
      const steps = [
        () => splitPool(access, 'main', 2, signal),
        () => createPool(access, { name: 'new', network: 'default', cidr: '10.50.0.0/16' }, signal),
        () => createPool(access, { name: 'twin', network: 'default', cidr: '10.50.8.0/24' }, signal),
        () => migratePool(access, 'main-1', 'new', {}, signal),
        () => deletePool(access, 'main-2', {}, signal),
      ];
      for (const step of steps) expect(names).toContain(await codeOf(step()));
      const { problems } = await checkCluster(cluster.access, {}, signal);
      // Neither pools that overlap, nor blocks that lie in none.
      expect(problems.map(({ id }) => id)).toEqual([]);
      const { blocks } = await readCluster(cluster.access, signal);
      expect(blocks.size).toBe(3);
    }),
    { numRuns: 150 },
  );
});

test('what cannot be done is refused, also after many attempts', async () => {
  const cluster = await createCluster();
  expect((await failureOf(releaseNode(cluster.access, 'n1', {}, cluster.signal))).code).toBe('NODE_ALIVE');
});
