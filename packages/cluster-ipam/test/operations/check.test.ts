import { describe, expect, test } from 'vitest';
import { checkCluster, type ProblemKind, fixCluster, readCluster } from '../../src/operations/index.js';
import { createHealthy, disturb, hour, type TestCluster } from './cluster.js';

interface Planted {
  readonly kind: ProblemKind;
  readonly plant: (cluster: TestCluster) => Promise<unknown>;
  readonly says: RegExp;
  /** True if it can be repaired without an operator's help. */
  readonly repairs: boolean;
}

const planted: Readonly<Record<string, Planted>> = {
  'a block of a node that is gone': {
    kind: 'leaked',
    plant: async ({ block, clock }) => {
      await block('10.244.1.0/26', 'gone');
      clock.advance(hour);
    },
    says: /block 10.244.1.0\/26 belongs to node gone, which is not registered/,
    repairs: true,
  },
  'a block of a node that is gone, of which an address is borrowed': {
    kind: 'leaked',
    plant: async ({ block, record, clock }) => {
      await block('10.244.1.0/26', 'gone', { loans: [{ address: '10.244.1.7', node: 'n2' }] });
      await record('10.244.1.0/26', 'n2', ['10.244.1.7']);
      clock.advance(hour);
    },
    says: /belongs to node gone/,
    repairs: true,
  },
  'a pool with the address of a node in it': {
    kind: 'doubled',
    plant: ({ pool }) => pool({ name: 'near', cidr: '192.0.2.0/24' }),
    says: /pool near \(192.0.2.0\/24\) has 192.0.2.1, the address of node n1/,
    repairs: false,
  },
  'an imported block of a node that never was': {
    kind: 'leaked',
    plant: async ({ importedBlock, record }) => {
      await importedBlock('10.244.1.0/26', 'calico-7');
      await record('10.244.1.0/26', 'calico-7', ['10.244.1.3'], { imported: true });
    },
    says: /belongs to node calico-7/,
    repairs: false,
  },
  'a block of a node that is gone, with its record': {
    kind: 'leaked',
    plant: async ({ block, record, clock }) => {
      await block('10.244.1.0/26', 'gone');
      await record('10.244.1.0/26', 'gone', ['10.244.1.7']);
      clock.advance(hour);
    },
    says: /node gone is not registered, and 10.244.1.7 of 10.244.1.0\/26/,
    repairs: true,
  },
  'an imported address borrowed by a node that never was, of a block whose owner has come': {
    kind: 'orphaned',
    plant: async ({ block, record, clock }) => {
      await block('10.244.1.0/26', 'n1', { loans: [{ address: '10.244.1.3', node: 'calico-7' }] });
      await record('10.244.1.0/26', 'calico-7', ['10.244.1.3'], { imported: true });
      clock.advance(hour);
    },
    says: /10.244.1.3 of block 10.244.1.0\/26 is lent to node calico-7/,
    repairs: false,
  },
  'an address borrowed by a node that is gone, with its record': {
    kind: 'orphaned',
    plant: async ({ block, record, clock }) => {
      await block('10.244.1.0/26', 'n1', { loans: [{ address: '10.244.1.3', node: 'gone' }] });
      await record('10.244.1.0/26', 'gone', ['10.244.1.3']);
      clock.advance(hour);
    },
    says: /10.244.1.3 of block 10.244.1.0\/26 is lent to node gone/,
    repairs: true,
  },
  'an imported record whose block is not there yet': {
    kind: 'leaked',
    plant: async ({ record, clock }) => {
      await record('10.244.1.0/26', 'calico-7', ['10.244.1.3'], { imported: true });
      clock.advance(hour);
    },
    says: /node calico-7 is not registered, and 10.244.1.3/,
    repairs: false,
  },
  'the record of a node that is gone': {
    kind: 'leaked',
    plant: async ({ record, clock }) => {
      await record('10.244.0.0/26', 'gone', ['10.244.0.20']);
      clock.advance(hour);
    },
    says: /node gone is not registered, and 10.244.0.20 of 10.244.0.0\/26/,
    repairs: true,
  },
  "an address of another's block that was not borrowed": {
    kind: 'leaked',
    plant: ({ record }) => record('10.244.0.64/26', 'n1', ['10.244.0.99']),
    says: /node n1 uses 10.244.0.99 of block 10.244.0.64\/26, which node n2 owns/,
    repairs: false,
  },
  'an address in the records of two': {
    kind: 'doubled',
    plant: ({ record }) => record('10.244.0.0/26', 'n2', ['10.244.0.9', '10.244.0.5=default/other']),
    says: /10.244.0.5 is in use by default\/p-10-244-0-5 on n1 and by default\/other on n2/,
    repairs: false,
  },
  'a borrowed address that its owner uses': {
    kind: 'doubled',
    plant: ({ record }) => record('10.244.0.0/26', 'n1', ['10.244.0.5', '10.244.0.9']),
    says: /node n1 uses 10.244.0.9, which it has lent to n2/,
    repairs: false,
  },
  'two blocks that overlap': {
    kind: 'doubled',
    plant: ({ block }) => block('10.244.0.0/25', 'n2'),
    says: /block 10.244.0.0\/26 \(node n1\) overlaps block 10.244.0.0\/25 \(node n2\)/,
    repairs: false,
  },
  'an address that is borrowed twice': {
    kind: 'doubled',
    plant: ({ block }) =>
      block('10.244.0.64/26', 'n2', {
        loans: [
          { address: '10.244.0.66', node: 'n1' },
          { address: '10.244.0.66', node: 'n3' },
        ],
      }),
    says: /10.244.0.66 of block 10.244.0.64\/26 is lent to node n3 and to another/,
    repairs: false,
  },
  'two pools that overlap': {
    kind: 'doubled',
    plant: ({ pool }) => pool({ name: 'second', cidr: '10.244.128.0/17' }),
    says: /pool second .* overlaps pool main/,
    repairs: false,
  },
  'a block in no pool': {
    kind: 'outside',
    plant: ({ block }) => block('10.99.0.0/26', 'n1'),
    says: /block 10.99.0.0\/26 lies in no pool/,
    repairs: false,
  },
  'a block of another size': {
    kind: 'outside',
    plant: ({ block }) => block('10.244.9.0/27', 'n1'),
    says: /is a \/27, and blocks of pool main are \/26/,
    repairs: false,
  },
  'an address in the record of the wrong block': {
    kind: 'outside',
    plant: ({ record }) => record('10.244.0.64/26', 'n2', ['10.244.7.7']),
    says: /node n2 has 10.244.7.7 in its record of block 10.244.0.64\/26/,
    repairs: false,
  },
  'a record without a block': {
    kind: 'orphaned',
    plant: ({ record }) => record('10.244.3.0/26', 'n1', ['10.244.3.3']),
    says: /there is no block 10.244.3.0\/26, and node n1 has 10.244.3.3/,
    repairs: false,
  },
  'an empty record without a block': {
    kind: 'orphaned',
    plant: ({ record }) => record('10.244.3.0/26', 'n1', []),
    says: /there is no block 10.244.3.0\/26, and node n1 has nothing/,
    repairs: true,
  },
  "an empty record of another's block": {
    kind: 'orphaned',
    plant: ({ record }) => record('10.244.0.64/26', 'n1', []),
    says: /node n1 has an empty record of block 10.244.0.64\/26/,
    repairs: true,
  },
  'a block without an owner': {
    kind: 'orphaned',
    plant: ({ block }) => block('10.244.3.0/26', undefined),
    says: /has no owner, and none of its addresses is borrowed/,
    repairs: true,
  },
  'an address borrowed by a node that is gone': {
    kind: 'orphaned',
    plant: ({ block }) => block('10.244.3.0/26', 'n1', { loans: [{ address: '10.244.3.3', node: 'gone' }] }),
    says: /10.244.3.3 of block 10.244.3.0\/26 is lent to node gone/,
    repairs: true,
  },
  'an absence without a node': {
    kind: 'orphaned',
    plant: ({ absence }) => absence('gone'),
    says: /node gone is noted as absent, but there is no such node/,
    repairs: true,
  },
  'an absence of a node that is there': {
    kind: 'orphaned',
    plant: ({ absence }) => absence('n1'),
    says: /node n1 is noted as absent, but it is there/,
    repairs: true,
  },
  'an address kept in no pool': {
    kind: 'orphaned',
    plant: ({ workload }) => workload('x', { sticky: true, assigned: { x: ['172.20.0.1'] } }),
    says: /workload default\/default\/x keeps 172.20.0.1 for x/,
    repairs: true,
  },
  'a workload of a pool that is gone': {
    kind: 'orphaned',
    plant: ({ workload }) => workload('x', { pools: ['gone'] }),
    says: /wants pools that do not exist: gone/,
    repairs: false,
  },
  'a static address in no pool': {
    kind: 'outside',
    plant: ({ workload }) => workload('x', { addresses: ['172.20.0.1'] }),
    says: /wants 172.20.0.1, which no pool has/,
    repairs: false,
  },
  'a stale borrow request': {
    kind: 'orphaned',
    plant: async ({ request, clock }) => {
      await request('10.244.0.0/26', 'n2');
      clock.advance(hour);
    },
    says: /node n2 asked 3601 s ago/,
    repairs: true,
  },
  'a block that was never confirmed': {
    kind: 'pending',
    plant: async ({ block, clock }) => {
      await block('10.244.3.0/26', 'n1', { state: 'pending' });
      clock.advance(hour);
    },
    says: /was claimed by node n1 3601 s ago and never confirmed/,
    repairs: false,
  },
  'what cannot be read': {
    kind: 'unreadable',
    plant: ({ store, keys }) => store.put(keys.block('10.244.3.0/26'), '{"kind":"pool"}'),
    says: /kind/,
    repairs: false,
  },
};

/** Addresses that registered nodes use, or could use: must be the same after each repair. */
async function heldBy(cluster: TestCluster): Promise<string[]> {
  const { nodes, blocks, allocationRecords } = await readCluster(cluster.access, cluster.signal);
  const isKnown = (node: string | undefined): boolean => node !== undefined && nodes.has(node);
  return [
    ...[...blocks.values()].flatMap(({ value }) => [
      ...(isKnown(value.node) ? [`${value.node} owns ${value.cidr}`] : []),
      ...value.loans
        .filter(({ node }) => isKnown(node))
        .map(({ address, node }) => `${node} borrows ${address}`),
    ]),
    ...allocationRecords.flatMap(({ value }) =>
      value.entries.filter(() => isKnown(value.node)).map(({ address }) => `${value.node} uses ${address}`),
    ),
  ].sort();
}

describe('check', () => {
  test('finds nothing in a cluster that is as it should be', async () => {
    const { access, signal } = await createHealthy();
    const report = await checkCluster(access, {}, signal);
    expect(report.problems).toEqual([]);
    expect(report.looked).toEqual({ pools: 1, blocks: 3, nodes: 3, addresses: 5, workloads: 1 });
  });

  test.each(Object.entries(planted))('finds %s, and repairs it if that is safe', async (_, each) => {
    const cluster = await createHealthy();
    await each.plant(cluster);
    const { access, signal } = cluster;
    const before = await heldBy(cluster);
    const { problems } = await checkCluster(access, {}, signal);
    const found = problems.find(({ kind, message }) => kind === each.kind && each.says.test(message));
    expect(problems).toContainEqual(found ?? `${each.kind}: ${each.says}`);
    const { repaired, left } = await fixCluster(access, {}, signal);
    expect(left.map(({ problem }) => problem.id).includes(found!.id)).toBe(!each.repairs);
    expect(repaired.some(({ problem }) => problem.id === found!.id)).toBe(each.repairs);
    expect(left.every(({ why }) => why.length > 10)).toBe(true);
    if (each.repairs) expect((await checkCluster(access, {}, signal)).problems).toEqual([]);
    expect(await heldBy(cluster)).toEqual(before);
  });

  test('does not find what another client was just about to do', async () => {
    const cluster = await createHealthy();
    const { access, store, keys, signal, block } = cluster;
    await block('10.244.3.0/26', undefined);
    const passing = disturb(store, () => store.delete(keys.block('10.244.3.0/26')));
    expect((await checkCluster({ ...access, store: passing }, {}, signal)).problems).toEqual([]);
  });

  test('repairs nothing of a node that has come back since', async () => {
    const cluster = await createHealthy();
    const { access, store, signal, block, node, clock, keysBelow } = cluster;
    await block('10.244.3.0/26', 'gone');
    clock.advance(hour);
    let looks = 0;
    const returning = disturb(store, async () => {
      if (++looks === 2) await node('gone');
    });
    const { repaired } = await fixCluster({ ...access, store: returning }, {}, signal);
    expect(repaired).toEqual([]);
    expect(await keysBelow('shared/blocks/10.244.3')).toHaveLength(1);
  });

  test('leaves a moment to what is new', async () => {
    const { access, signal, block, clock } = await createHealthy();
    await block('10.244.3.0/26', 'new');
    const { left } = await fixCluster(access, {}, signal);
    expect(left.map(({ why }) => why)).toEqual(['it was claimed a moment ago: look again later']);
    clock.advance(hour);
    expect((await fixCluster(access, {}, signal)).left).toEqual([]);
  });

  test('frees what is kept for a pod without address only when it was so before', async () => {
    const { access, signal, workload } = await createHealthy();
    await workload('x', { assigned: { x: ['10.244.0.44'] } });
    const first = await fixCluster(access, {}, signal);
    expect(first.repaired).toEqual([]);
    expect(first.left[0]?.why).toMatch(/found for the first time/);
    const foundBefore = new Set(first.problems.map(({ id }) => id));
    expect((await fixCluster(access, { foundBefore }, signal)).left).toEqual([]);
  });

  test('repairs the owner and the borrowed addresses of one block together', async () => {
    const { access, signal, block, clock, keysBelow } = await createHealthy();
    const loans = ['10.244.3.1', '10.244.3.2'].map((address) => ({ address, node: 'gone-too' }));
    await block('10.244.3.0/26', 'gone', { loans });
    clock.advance(hour);
    const { repaired, left } = await fixCluster(access, {}, signal);
    expect(repaired).toHaveLength(3);
    expect(left).toEqual([]);
    expect(await keysBelow('shared/blocks/10.244.3')).toEqual([]);
  });
});
