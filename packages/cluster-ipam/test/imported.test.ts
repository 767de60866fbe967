/** Allocations of an import (`podwire import calico`): in use until an operator or a node says otherwise. */
import { type Block, blockKind, type AllocationRecord, allocationRecordKind } from '@podwire/cluster-state';
import { type CallOptions, decodeObject, encodeObject, type Store } from '@podwire/store';
import { afterEach, describe, expect, it } from 'vitest';
import { keys, newDisk, TestCluster } from './support/cluster.js';

const cidr = '10.0.0.32/28';

let cluster: TestCluster | undefined;

afterEach(() => cluster?.close());

async function begin(
  block: Partial<Block>,
  allocationRecords: readonly AllocationRecord[],
): Promise<TestCluster> {
  const made = new TestCluster();
  cluster = made;
  for (const value of allocationRecords)
    await made.admin.put(
      keys.allocationRecord(value.cidr, value.node),
      encodeObject(allocationRecordKind, value),
    );
  const value: Block = { cidr, state: 'confirmed', claimedAt: 1, loans: [], ...block };
  await made.admin.put(keys.block(cidr), encodeObject(blockKind, value));
  await made.putPool();
  return made;
}

const record = (node: string, owners: Readonly<Record<string, string>>): AllocationRecord => ({
  cidr,
  node,
  entries: Object.entries(owners).map(([address, owner]) => ({ address, owner, since: 1 })),
  reportedAt: 1,
  imported: true,
});

async function readRecord({ admin }: TestCluster, node: string): Promise<AllocationRecord | undefined> {
  const item = await admin.get(keys.allocationRecord(cidr, node));
  return item && decodeObject(allocationRecordKind, item.key, item.value);
}

const withBorrowed = { loans: [{ address: '10.0.0.33', node: 'n2' }] };

describe('a borrowed address that was imported', () => {
  it('is in use at the borrower, also when the owner came first', async () => {
    const made = await begin({ node: 'n1', ...withBorrowed }, [record('n2', { '10.0.0.33': 'handle' })]);
    const owner = await made.join('n1');
    await expect(owner.add('p', { requested: ['10.0.0.33'] })).rejects.toThrow();
    const borrower = await made.join('n2');
    expect(borrower.blocks).toContain('10.0.0.33/32');
    await expect(borrower.add('q', { requested: ['10.0.0.33'] })).rejects.toThrow(/imported:handle/);
    const given = [];
    for (let at = 0; at < 20; at++) given.push(...(await borrower.add(`pod-${at}`)));
    expect(given).not.toContain('10.0.0.33');
    expect(new Set(given).size).toBe(20);
  });

  it('of a block without an owner is in use too', async () => {
    const made = await begin(withBorrowed, [record('n2', { '10.0.0.33': 'handle' })]);
    const borrower = await made.join('n2');
    await made.clock.advance(60_000);
    expect(borrower.blocks).toContain('10.0.0.33/32');
    await expect(borrower.add('q', { requested: ['10.0.0.33'] })).rejects.toThrow(/imported:handle/);
  });

  it('is not handed out while it is unknown whether a pod has it', async () => {
    const made = await begin(withBorrowed, [record('n2', { '10.0.0.33': 'handle' })]);
    await made.putPool({ cidr });
    let isDeaf = true;
    const wrap = (store: Store): Store =>
      new Proxy(store, {
        get(target, property) {
          if (property === 'get' && isDeaf)
            return (key: string, options: CallOptions) =>
              key.includes('ledgers/') ? Promise.reject(new Error('deaf')) : target.get(key, options);
          const value: unknown = Reflect.get(target, property);
          return typeof value === 'function' ? (value.bind(target) as unknown) : value;
        },
      });
    const borrower = await made.join('n2', { wrap });
    expect(borrower.blocks).toEqual(['10.0.0.33/32']);
    await expect(made.during(borrower.add('p'))).rejects.toThrow('deaf');
    // Addresses in use are reported meanwhile; but not over a record that this node could not read.
    await made.clock.advance(10_000);
    isDeaf = false;
    await made.clock.advance(60_000);
    await expect(borrower.add('p', { requested: ['10.0.0.33'] })).rejects.toThrow(/imported:handle/);
  });

  it('stays in use over a restart of the agent, and is free when it is released', async () => {
    const made = await begin(withBorrowed, [record('n2', { '10.0.0.33': 'handle' })]);
    const disk = newDisk();
    await (await made.join('n2', {}, disk)).stop();
    const borrower = await made.join('n2', {}, disk);
    await made.clock.advance(1_000);
    await expect(borrower.add('q', { requested: ['10.0.0.33'] })).rejects.toThrow(/imported:handle/);
    const now = await readRecord(made, 'n2');
    expect(now).toMatchObject({ entries: [{ address: '10.0.0.33', owner: 'handle' }] });
    await made.admin.put(
      keys.allocationRecord(cidr, 'n2'),
      encodeObject(allocationRecordKind, { ...now!, entries: [] }),
    );
    await made.clock.advance(20_000);
    expect(await borrower.add('q', { requested: ['10.0.0.33'] })).toEqual(['10.0.0.33']);
  });

  it('is given back after a reboot: its pod is dead', async () => {
    const made = await begin(withBorrowed, [record('n2', { '10.0.0.33': 'handle' })]);
    await (await made.join('n2')).stop();
    expect(await readRecord(made, 'n2')).not.toHaveProperty('imported');
    const rebooted = await made.join('n2');
    await made.clock.advance(60_000);
    expect(rebooted.blocks).not.toContain('10.0.0.33/32');
    expect(await made.block(cidr)).toBeUndefined();
  });
});

describe('an owner of several imported addresses', () => {
  it('keeps the others when one is released', async () => {
    const owners = { '10.0.0.33': 'handle', '10.0.0.34': 'handle' };
    const made = await begin({ node: 'n1' }, [record('n1', owners)]);
    const node = await made.join('n1');
    const rest = record('n1', { '10.0.0.34': 'handle' });
    await made.admin.put(keys.allocationRecord(cidr, 'n1'), encodeObject(allocationRecordKind, rest));
    await made.clock.advance(20_000);
    expect(await node.add('p', { requested: ['10.0.0.33'] })).toEqual(['10.0.0.33']);
    await expect(node.add('q', { requested: ['10.0.0.34'] })).rejects.toThrow(/imported:handle/);
  });
});
