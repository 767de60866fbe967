import {
  applyImport,
  type ImportPlan,
  planImport,
  readCalicoDump,
  readImportState,
} from '@podwire/calico-import';
import { type Block, blockKind, allocationRecordKind, poolKind } from '@podwire/cluster-state';
import { createPool } from '@podwire/cluster-ipam/operations';
import { systemClock } from '@podwire/platform';
import { decodeObject, encodeObject, type Store } from '@podwire/store';
import { createMemoryServer, createMemoryStore } from '@podwire/store/memory';
import { describe, expect, it } from 'vitest';
import { crdBlock, type Json, pool } from './support/calico.js';
import { diagnosticsOf, keys } from './support/plan.js';

const { signal } = new AbortController();

const objects: readonly Json[] = [
  pool('p', '10.0.0.0/16'),
  crdBlock('10.0.0.0/26', 'host:n1', [
    { ordinal: 1, handle: 'a', node: 'n1', pod: 'default/web' },
    { ordinal: 2, handle: 'b', node: 'n2' },
  ]),
];

async function planFor(store: Store, items: readonly Json[] = objects): Promise<ImportPlan> {
  const text = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
  return planImport(readCalicoDump([{ name: 'dump', text }]), await readImportState(store, keys, signal), {
    network: 'default',
  });
}

const apply = (plan: ImportPlan, store: Store) => applyImport(plan, { store, clock: systemClock, signal });

const contents = async (store: Store) =>
  (await store.list('/')).items.map(({ key, value }) => `${key} ${value}`);

describe('an import', () => {
  it('writes objects that others can read', async () => {
    const store = createMemoryStore();
    const plan = await planFor(store);
    expect(await apply(plan, store)).toBe(4);
    const get = async (key: string) => (await store.get(key))?.value ?? '';
    expect(decodeObject(poolKind, 'p', await get(keys.pool('p')))).toEqual(plan.pools[0]);
    expect(decodeObject(blockKind, 'b', await get(keys.block('10.0.0.0/26')))).toEqual(plan.blocks[0]);
    for (const record of plan.allocationRecords)
      expect(
        decodeObject(allocationRecordKind, 'l', await get(keys.allocationRecord(record.cidr, record.node))),
      ).toEqual(record);
    // Pools that others make depend on it.
    expect(await get(keys.poolsGeneration)).not.toBe('');
  });

  it('writes nothing when it is repeated', async () => {
    const store = createMemoryStore();
    await apply(await planFor(store), store);
    const before = await contents(store);
    const again = await planFor(store);
    expect(again).toMatchObject({ creations: [], present: 4 });
    expect(diagnosticsOf(again, 'error')).toEqual([]);
    expect(await apply(again, store)).toBe(0);
    expect(await contents(store)).toEqual(before);
  });

  it('goes on where it was cut off', async () => {
    const server = createMemoryServer({ limits: { operations: 2 } });
    const store = server.connect();
    const whole = createMemoryStore();
    await apply(await planFor(whole), whole);
    const names = async (each: Store) => (await each.list('/')).items.map(({ key }) => key);
    for (let writes = 0; ; writes++) {
      const fresh = createMemoryServer({ limits: { operations: 2 } });
      let left = writes;
      const failing = fresh.connect();
      const cut: Store = {
        ...bind(failing),
        transact: (transaction, options) =>
          left-- > 0 ? failing.transact(transaction, options) : Promise.reject(new Error('cut')),
      };
      const done = await apply(await planFor(failing), cut).then(
        () => true,
        () => false,
      );
      await apply(await planFor(failing), failing);
      expect(await names(failing)).toEqual(await names(whole));
      if (done) break;
      expect(writes).toBeLessThan(10);
    }
    await store.close();
  });

  it('refuses when there is something else, and names the field', async () => {
    const store = createMemoryStore();
    const access = { store, keys, clock: systemClock };
    await createPool(
      access,
      { name: 'p', network: 'default', cidr: '10.0.0.0/16', natOutgoing: true },
      signal,
    );
    const block: Block = {
      cidr: '10.0.0.0/26',
      node: 'n9',
      instance: 'i',
      state: 'confirmed',
      claimedAt: 0,
      loans: [],
    };
    await store.put(keys.block(block.cidr), encodeObject(blockKind, block));
    await store.put(keys.allocationRecord('10.0.0.0/26', 'n1'), 'nonsense');
    const before = await contents(store);
    const plan = await planFor(store);
    const errors = diagnosticsOf(plan, 'error');
    expect(errors).toContain('pool p: natOutgoing: is there already with true, and the dump says false');
    expect(errors).toContain('block 10.0.0.0/26: node: is there already with "n9", and the dump says "n1"');
    expect(errors.join('\n')).toMatch(
      /ledger of n1 for 10\.0\.0\.0\/26: is there already and cannot be read/,
    );
    await expect(apply(plan, store)).rejects.toMatchObject({ code: 'IMPORT_INVALID' });
    expect(await contents(store)).toEqual(before);
  });

  it('refuses pools and blocks that overlap others', async () => {
    const store = createMemoryStore();
    const access = { store, keys, clock: systemClock };
    await createPool(access, { name: 'other', network: 'x', cidr: '10.0.0.0/8' }, signal);
    const block: Block = { cidr: '10.0.0.0/28', node: 'n9', state: 'confirmed', claimedAt: 0, loans: [] };
    await store.put(keys.block(block.cidr), encodeObject(blockKind, block));
    const errors = diagnosticsOf(await planFor(store), 'error').join('\n');
    expect(errors).toMatch(/IPPool p: cidr: .*overlaps/);
    expect(errors).toMatch(/block 10\.0\.0\.0\/26: cidr: overlaps block 10\.0\.0\.0\/28/);
  });

  it('leaves what an agent has taken over since to that agent', async () => {
    const store = createMemoryStore();
    const first = await planFor(store);
    await apply(first, store);
    const [block] = first.blocks;
    if (block === undefined) throw new Error('no block');
    const adopted: Block = { ...block, instance: 'boot-1', loans: [] };
    await store.put(keys.block(block.cidr), encodeObject(blockKind, adopted));
    await store.delete(keys.allocationRecord(block.cidr, 'n2'));
    const again = await planFor(store);
    expect(diagnosticsOf(again, 'error')).toEqual([]);
    expect(again.creations).toEqual([]);
  });

  it('is refused when others were faster', async () => {
    const store = createMemoryStore();
    const plan = await planFor(store);
    await createPool(
      { store, keys, clock: systemClock },
      { name: 'x', network: 'x', cidr: '10.200.0.0/16' },
      signal,
    );
    await expect(apply(plan, store)).rejects.toMatchObject({ code: 'STORE_CONFLICT' });
    // The pool alone is missing.
    expect(await apply(await planFor(store), store)).toBe(1);
  });

  it('of a large cluster keeps to what a transaction may have', async () => {
    const server = createMemoryServer({ limits: { operations: 21, valueBytes: 380_000 } });
    const store = server.connect();
    const sizes: number[] = [];
    const measured: Store = {
      ...bind(store),
      transact(transaction, options) {
        sizes.push(JSON.stringify(transaction).length);
        return store.transact(transaction, options);
      },
    };
    const blocks = Array.from({ length: 300 }, (_, at) =>
      crdBlock(`10.0.${at >> 2}.${(at % 4) * 64}/26`, `host:n${at}`, [
        ...Array.from({ length: 60 }, (_each, ordinal) => ({
          ordinal,
          handle: `k8s-pod-network.${'c'.repeat(64)}${ordinal}`,
          node: `n${at}`,
          pod: `default/pod-${at}-${ordinal}`,
        })),
      ]),
    );
    const plan = await planFor(store, [pool('p', '10.0.0.0/16'), ...blocks]);
    expect(diagnosticsOf(plan, 'error')).toEqual([]);
    expect(await apply(plan, measured)).toBe(601);
    expect(Math.max(...sizes)).toBeLessThan(300_000);
  });
});

function bind(store: Store): Store {
  return {
    kind: store.kind,
    limits: store.limits,
    get: store.get.bind(store),
    put: store.put.bind(store),
    delete: store.delete.bind(store),
    transact: store.transact.bind(store),
    list: store.list.bind(store),
    watch: store.watch.bind(store),
    grantLease: store.grantLease.bind(store),
    close: store.close.bind(store),
  };
}
