/** Whatever is wrong, in whatever mixture, and whichever node comes back meanwhile: a known node keeps its blocks. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkCluster, fixCluster, readCluster } from '../../src/operations/index.js';
import { createTestCluster, disturb, type TestCluster } from './cluster.js';

const hour = 3_600_000;

/** Each in a block of its own. What is found of it says the block's name; repaired or not. */
const faults = {
  leakedBlock: { repairs: true, plant: (c: TestCluster, at: Slot) => c.block(at.cidr, at.gone) },
  leakedBlockWithBorrowed: {
    repairs: true,
    plant: async (c: TestCluster, at: Slot) => {
      await c.block(at.cidr, at.gone, { loans: [{ address: at.address(7), node: 'n2' }] });
      await c.record(at.cidr, 'n2', [at.address(7)]);
    },
  },
  leakedRecords: {
    repairs: true,
    plant: async (c: TestCluster, at: Slot) => {
      await c.block(at.cidr, 'n1');
      await c.record(at.cidr, at.gone, [at.address(3)]);
      await c.record(at.cidr, 'n1', [at.address(4)]);
    },
  },
  orphanedBorrowed: {
    repairs: true,
    plant: async (c: TestCluster, at: Slot) => {
      const loans = [
        { address: at.address(8), node: at.gone },
        { address: at.address(9), node: 'n2' },
      ];
      await c.block(at.cidr, 'n1', { loans });
      await c.record(at.cidr, 'n1', [at.address(1)]);
    },
  },
  emptyBlock: { repairs: true, plant: (c: TestCluster, at: Slot) => c.block(at.cidr, undefined) },
  emptyRecord: { repairs: true, plant: (c: TestCluster, at: Slot) => c.record(at.cidr, 'n2', []) },
  imported: {
    repairs: false,
    plant: async (c: TestCluster, at: Slot) => {
      await c.importedBlock(at.cidr, `${at.gone}-calico`);
      await c.record(at.cidr, `${at.gone}-calico`, [at.address(2)], { imported: true });
    },
  },
  importedBorrowed: {
    repairs: false,
    plant: async (c: TestCluster, at: Slot) => {
      const loans = [{ address: at.address(2), node: `${at.gone}-calico` }];
      await c.block(at.cidr, 'n1', { loans });
      await c.record(at.cidr, `${at.gone}-calico`, [at.address(2)], { imported: true });
    },
  },
  leakedBlockWithRecord: {
    repairs: true,
    plant: async (c: TestCluster, at: Slot) => {
      await c.block(at.cidr, at.gone);
      await c.record(at.cidr, at.gone, [at.address(2), at.address(3)]);
    },
  },
  doubledAddress: {
    repairs: false,
    plant: async (c: TestCluster, at: Slot) => {
      await c.block(at.cidr, 'n1');
      await c.record(at.cidr, 'n1', [at.address(2)]);
      await c.record(at.cidr, 'n2', [at.address(2)]);
    },
  },
  doubledByCutOff: {
    repairs: false,
    plant: async (c: TestCluster, at: Slot) => {
      await c.block(at.cidr, 'n1');
      await c.record(at.cidr, 'n3', [at.address(2)]);
    },
  },
  wrongSize: {
    repairs: false,
    plant: (c: TestCluster, at: Slot) => c.block(at.cidr.replace('/26', '/27'), 'n3'),
  },
  healthy: {
    repairs: true,
    plant: async (c: TestCluster, at: Slot) => {
      await c.block(at.cidr, 'n3', { loans: [{ address: at.address(60), node: 'n1' }] });
      await c.record(at.cidr, 'n3', [at.address(1), at.address(2)]);
      await c.record(at.cidr, 'n1', [at.address(60)]);
    },
  },
} as const;

type Fault = keyof typeof faults;

interface Slot {
  readonly cidr: string;
  /** A node that is not registered; several slots share one. */
  readonly gone: string;
  address(offset: number): string;
}

function slotOf(index: number): Slot {
  const start = index * 64;
  const at = (offset: number): string => `10.244.${(start + offset) >> 8}.${(start + offset) & 255}`;
  return { cidr: `${at(0)}/26`, gone: `gone-${index % 3}`, address: at };
}

async function plantAll(list: readonly Fault[]): Promise<TestCluster> {
  const cluster = createTestCluster();
  await cluster.pool({ cidr: '10.244.0.0/16' });
  for (const name of ['n1', 'n2', 'n3']) await cluster.node(name, { present: name !== 'n3' });
  for (const [index, fault] of list.entries()) await faults[fault].plant(cluster, slotOf(index));
  cluster.clock.advance(hour);
  return cluster;
}

/** By node: blocks, loans and addresses in its record. */
async function readUses({ access, signal }: TestCluster): Promise<Map<string, string[]>> {
  const { blocks, allocationRecords } = await readCluster(access, signal);
  const all = new Map<string, string[]>();
  const add = (node: string | undefined, what: string): void => {
    if (node !== undefined) all.set(node, [...(all.get(node) ?? []), what].sort());
  };
  for (const { value } of blocks.values()) {
    add(value.node, value.cidr);
    for (const { node, address } of value.loans) add(node, address);
  }
  for (const { value } of allocationRecords)
    for (const { address } of value.entries) add(value.node, `in use ${address}`);
  return all;
}

const list = fc.array(fc.constantFrom(...(Object.keys(faults) as Fault[])), { maxLength: 12 });

test('everything planted is found; what is left afterwards needs people', async () => {
  await fc.assert(
    fc.asyncProperty(list, async (planted) => {
      const cluster = await plantAll(planted);
      const { access, signal } = cluster;
      const before = await readUses(cluster);
      const report = await checkCluster(access, {}, signal);
      const isAbout = (index: number) => (each: { subject: string; message: string }) =>
        `${each.subject} ${each.message} `.includes(slotOf(index).cidr.replace('/26', '/')) ||
        each.subject === `address ${slotOf(index).address(2)}`;
      for (const [index, fault] of planted.entries()) {
        expect([fault, report.problems.some(isAbout(index))]).toEqual([fault, fault !== 'healthy']);
      }
      const { left } = await fixCluster(access, {}, signal);
      const after = (await checkCluster(access, {}, signal)).problems;
      expect(after.map(({ id }) => id)).toEqual(left.map(({ problem }) => problem.id));
      for (const [index, fault] of planted.entries()) {
        expect([fault, after.some(isAbout(index))]).toEqual([fault, !faults[fault].repairs]);
      }
      const now = await readUses(cluster);
      for (const [node, held] of before) {
        const isGone = /^gone-\d$/.test(node);
        expect([node, now.get(node) ?? []]).toEqual([node, isGone ? [] : held]);
      }
    }),
    { numRuns: 60 },
  );
});

test('who comes back at any moment keeps what it has at that moment', async () => {
  const moment = fc.record({ planted: list, back: fc.nat(8), who: fc.nat(2) });
  await fc.assert(
    fc.asyncProperty(moment, async ({ planted, back, who }) => {
      const cluster = await plantAll(planted);
      const name = `gone-${who}`;
      let calls = 0;
      let atReturn: string[] | undefined;
      const comeBack = async (): Promise<void> => {
        if (calls++ !== back) return;
        await cluster.node(name);
        atReturn = (await readUses(cluster)).get(name) ?? [];
      };
      const listing = disturb(cluster.store, comeBack);
      const store: typeof listing = {
        ...listing,
        async transact(transaction, options) {
          await comeBack();
          return listing.transact(transaction, options);
        },
      };
      await fixCluster({ ...cluster.access, store }, {}, cluster.signal);
      if (atReturn !== undefined) expect((await readUses(cluster)).get(name) ?? []).toEqual(atReturn);
    }),
    { numRuns: 100 },
  );
});
