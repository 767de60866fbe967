import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Workload, workloadKind } from '@podwire/cluster-state';
import { decodeObject, encodeObject } from '@podwire/store';
import { keys, network, TestCluster, type TestNode } from './support/cluster.js';

let cluster: TestCluster;
let one: TestNode;
let two: TestNode;

beforeEach(async () => {
  cluster = new TestCluster({ coolDown: 30_000 });
  await cluster.putPool();
  one = await cluster.join('n1');
  two = await cluster.join('n2');
});
afterEach(() => cluster.close());

const key = keys.workload(network, 'shop', 'web-*');
async function define(settings: Partial<Workload>): Promise<void> {
  const base = {
    network,
    namespace: 'shop',
    name: 'web-*',
    addresses: [],
    pools: [],
    sticky: false,
    assigned: {},
  };
  await cluster.admin.put(key, encodeObject(workloadKind, { ...base, ...settings }));
  await cluster.clock.settle();
}
const assigned = async (): Promise<Workload['assigned']> => {
  const item = await cluster.admin.get(key);
  return decodeObject(workloadKind, key, item!.value).assigned;
};
const pod = (name: string) => ({ namespace: 'shop', name });
const add = (node: TestNode, name: string): Promise<string[]> =>
  cluster.during(node.add(`owner of ${name}`, { pod: pod(name) }), 50);
const remove = (node: TestNode, name: string): void => node.remove(`owner of ${name}`, pod(name));

describe('static addresses', () => {
  it('go to the pods of the workload, each to one, wherever they are, and to no other pod', async () => {
    const addresses = [one, two].map(({ blocks }) =>
      blocks[0]!.replace(/\.(\d+)\/28$/, (_, n) => `.${Number(n) + 5}`),
    );
    await define({ addresses });
    const got = await Promise.all([add(one, 'web-0'), add(two, 'web-1')]);
    expect(got.flat().sort()).toEqual([...addresses].sort());
    await expect(add(one, 'web-2')).rejects.toThrow(/all IPv4 addresses of workload shop\/web-\* are taken/);
    remove(one, 'web-0');
    await cluster.clock.advance(1_000);
    expect(Object.keys(await assigned())).toEqual(['web-1']);
    expect(await add(two, 'web-2')).toEqual(got[0]);
  });

  it('stay the pod’s when it is made again under its name, before the end of the first is written', async () => {
    const address = one.blocks[0]!.replace(/\.(\d+)\/28$/, (_, n) => `.${Number(n) + 5}`);
    await define({ addresses: [address] });
    await add(one, 'web-0');
    for (const [from, to] of [
      [one, one],
      [one, two],
    ] as const) {
      remove(from, 'web-0');
      expect(await add(to, 'web-0')).toEqual([address]);
      await cluster.clock.advance(5_000);
      expect(await assigned()).toEqual({ 'web-0': [address] });
    }
  });

  it('are kept as long as any workload names them', async () => {
    const address = one.blocks[0]!.replace(/\.(\d+)\/28$/, (_, n) => `.${Number(n) + 3}`);
    await define({ addresses: [address] });
    const other = { network, namespace: 'shop', pools: [], sticky: false, assigned: {} };
    const value = encodeObject(workloadKind, { ...other, name: 'db', addresses: [address] });
    await cluster.admin.put(keys.workload(network, 'shop', 'db'), value);
    await cluster.admin.delete(key);
    await cluster.clock.settle();
    await expect(one.add('x', { requested: [address] })).rejects.toThrow('kept for workload shop/db');
    expect(await add(one, 'db')).toEqual([address]);
    await cluster.admin.delete(keys.workload(network, 'shop', 'db'));
    await cluster.clock.settle();
    one.remove('owner of db');
    await cluster.clock.advance(40_000);
    expect(await one.add('x', { requested: [address] })).toEqual([address]);
  });

  it('are not handed out to others, nor given to them by name', async () => {
    const address = one.blocks[0]!.replace(/\.(\d+)\/28$/, (_, n) => `.${Number(n) + 3}`);
    await define({ addresses: [address] });
    for (let n = 0; n < 10; n++) expect(await one.add(`p${n}`)).not.toEqual([address]);
    await expect(one.add('x', { requested: [address] })).rejects.toThrow('kept for workload shop/web-*');
    await expect(cluster.during(two.add('x', { requested: [address] }))).rejects.toThrow(
      'kept for workload shop/web-*',
    );
    expect(await add(two, 'web-9')).toEqual([address]);
  });
});

describe('a sticky pod', () => {
  it('has the same address on another node, at once', async () => {
    await define({ sticky: true });
    const first = await add(one, 'web-0');
    await cluster.clock.advance(1_000);
    expect(await assigned()).toEqual({ 'web-0': first });
    remove(one, 'web-0');
    expect(await add(one, 'web-0')).toEqual(first);
    remove(one, 'web-0');
    for (let n = 0; n < 14; n++) expect(await cluster.during(one.add(`p${n}`))).not.toEqual(first);
    expect(await add(two, 'web-0')).toEqual(first);
    expect(two.blocks).toContain(`${first[0]}/32`);
  });

  it('may have any name', async () => {
    await cluster.admin.put(
      keys.workload(network, 'shop', 'con*'),
      encodeObject(workloadKind, {
        network,
        namespace: 'shop',
        name: 'con*',
        addresses: [],
        pools: [],
        sticky: true,
        assigned: {},
      }),
    );
    await cluster.clock.settle();
    const first = await add(one, 'constructor');
    await cluster.clock.advance(1_000);
    remove(one, 'constructor');
    expect(await add(two, 'constructor')).toEqual(first);
  });

  it('gets another address when its own cannot be had', async () => {
    await define({ sticky: true });
    const first = await add(one, 'web-0');
    await cluster.clock.advance(1_000);
    one.cut();
    const other = await add(two, 'web-0');
    expect(other).not.toEqual(first);
    await cluster.clock.advance(1_000);
    expect(await assigned()).toEqual({ 'web-0': other });
  });
});

it('a workload may restrict its pods to pools', async () => {
  await cluster.putPool({ name: 'green', cidr: '10.9.0.0/24', assignment: 'manual' });
  await define({ pools: ['green'] });
  expect((await add(one, 'web-0'))[0]).toMatch(/^10\.9\./);
  expect((await add(one, 'other'))[0]).toMatch(/^10\.0\./);
});
