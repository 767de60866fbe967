import { DesiredState } from '@podwire/desired-state';
import type { Resource } from '@podwire/engine';
import type { NodeView, PoolView } from '@podwire/network-contract';
import { silentLog } from '@podwire/platform';
import { describe, expect, test } from 'vitest';
import { NodeState } from '../../src/node/node.js';
import { FakeEngine } from '../fakes/fake-engine.js';
import { createReadyHarness, ordinaryHost } from '../fakes/harness.js';

const yaml = 'networks: [{ name: n, pools: [{ cidr: 10.1.0.0/24, blockSize: 31 }] }]';

/** A node in a cluster, whose own part is applied as it is when it begins. */
async function createAppliedNode(blocksOf: () => readonly string[], otherPools: readonly PoolView[] = []) {
  const { networks } = (await createReadyHarness({ yaml })).context;
  const engine = new FakeEngine();
  const cluster = { underlay: undefined, tunnel: undefined, otherPools, uses: [], blocksOf };
  const node = new NodeState({
    name: 'n',
    networks,
    kinds: engine.kinds,
    desired: new DesiredState({ kinds: engine.kinds, log: silentLog }),
    readHost: () => ordinaryHost,
    cluster,
  });
  const options = { signal: new AbortController().signal };
  await node.repair(async (owned) => {
    await engine.apply(owned, options);
    return true;
  });
  return { node, engine, options };
}

describe("the node's own part", () => {
  test('is the same list until something changes that it follows from', async () => {
    let blocks = ['10.1.0.0/31'];
    const { node } = await createAppliedNode(() => blocks);
    const before = node.owned();
    expect(node.owned()).toBe(before);
    blocks = [...blocks, '10.1.0.2/31'];
    expect(node.owned()).not.toBe(before);
    expect(node.owned().resources.length).toBeGreaterThan(before.resources.length);
  });

  test('a new block gets its route before its first pod, and only then', async () => {
    const agent = await createReadyHarness({ yaml });
    for (const id of ['c1', 'c2', 'c3']) await agent.call('ADD', { id });
    const applied = agent.engine.calls.filter((call) => call === 'apply node');
    // 10.1.0.0 is never handed out: the blocks are 0-1, 2-3, …
    expect(agent.context.networks[0]?.ipam.blocks()).toEqual(['10.1.0.0/31', '10.1.0.2/31']);
    expect(applied).toHaveLength(2);
  });

  test('a new block gets before its first pod what its model plans for it, of any kind, and nothing else', async () => {
    const agent = await createReadyHarness({ yaml });
    const { engine, networks } = agent.context;
    const of = (set: string, value: string): Resource => ({
      ...{ kind: 'nft-element', family: 'inet', table: 'podwire', set },
      key: [{ type: 'ipv4_interval', value }],
    });
    let isChanged = false;
    const { model } = networks[0]!;
    const planNode = (view: NodeView): Resource[] => [
      ...model.planNode(view),
      ...view.blocks.map((block) => of('pools4', block)),
      ...(isChanged ? [of('natpools4', '10.7.0.0/16')] : []),
    ];
    const node = new NodeState({
      ...{ name: 'n', kinds: engine.kinds, readHost: () => ordinaryHost },
      desired: new DesiredState({ kinds: engine.kinds, log: silentLog }),
      networks: [{ ...networks[0]!, model: { ...model, planNode } }],
    });
    await node.repair(() => Promise.resolve(true));
    isChanged = true;
    await agent.call('ADD');
    await node.ensure(engine, { signal: new AbortController().signal });
    const elements = agent.engine.of('node').flatMap((each) => (each.kind === 'nft-element' ? each.key : []));
    expect(elements.map(({ value }) => value)).toContain('10.1.0.0/31');
    expect(elements.map(({ value }) => value)).not.toContain('10.7.0.0/16');
  });

  test('an ADD that cannot get the route of its block fails, and the next one tries again', async () => {
    const agent = await createReadyHarness({ yaml });
    agent.engine.between = (point) => {
      if (point === 'apply route') throw new Error('ENETDOWN');
    };
    expect((await agent.call('ADD')).ok).toBe(false);
    agent.engine.between = () => undefined;
    expect((await agent.call('ADD')).ok).toBe(true);
    expect(agent.engine.of('node')).toContainEqual(expect.objectContaining({ destination: '10.1.0.2/31' }));
  });

  test('a change whose end is unknown is uncertain, and a route that is wanted again comes back', async () => {
    let held: readonly string[] = ['10.1.0.0/31'];
    const { node, engine, options } = await createAppliedNode(() => held);
    held = ['10.1.0.2/31'];
    engine.between = (point) => {
      if (point === 'changed') throw new Error('ENETDOWN');
    };
    await expect(node.sync(engine, options)).rejects.toThrow('ENETDOWN');
    engine.between = () => undefined;
    held = ['10.1.0.0/31'];
    expect(await node.sync(engine, options)).toBe(true);
    const routes = engine.of('node').filter(({ kind }) => kind === 'route');
    expect(routes).toEqual([expect.objectContaining({ destination: '10.1.0.0/31' })]);
  });

  test('so it is when not even all that had to go is gone', async () => {
    const before = ['10.1.0.0/31', '10.1.0.2/31'];
    let held: readonly string[] = before;
    const { node, engine, options } = await createAppliedNode(() => held);
    held = [];
    let left = 1;
    engine.between = (point) => {
      if (point === 'remove route' && left-- === 0) throw new Error('EBUSY');
    };
    await expect(node.sync(engine, options)).rejects.toThrow('EBUSY');
    expect(engine.of('node').filter(({ kind }) => kind === 'route')).toHaveLength(1);
    held = before;
    expect(await node.sync(engine, options)).toBe(true);
    expect(engine.of('node').filter(({ kind }) => kind === 'route')).toHaveLength(2);
  });

  test('a pool that comes and goes is followed without a reconcile', async () => {
    const others: PoolView[] = [];
    const { node, engine, options } = await createAppliedNode(() => [], others);
    const pools = (): unknown[] =>
      engine
        .of('node')
        .flatMap((each) => (each.kind === 'nft-element' && each.set === 'pools4' ? each.key : []))
        .map(({ value }) => value);
    expect(pools()).toEqual(['10.1.0.0/24']);
    others.push({ name: 'other', cidr: '10.9.0.0/16', natOutgoing: false });
    expect(await node.sync(engine, options)).toBe(true);
    expect(pools()).toEqual(['10.1.0.0/24', '10.9.0.0/16']);
    others.pop();
    expect(await node.sync(engine, options)).toBe(true);
    expect(pools()).toEqual(['10.1.0.0/24']);
  });

  test('two networks share one table and one set of parameters', async () => {
    const agent = await createReadyHarness({
      yaml: 'networks: [{ name: a, pools: [{ cidr: 10.1.0.0/24 }] }, { name: b, pools: [{ cidr: 10.2.0.0/24 }] }]',
    });
    const { resources } = agent.context.node.owned();
    expect(resources.filter(({ kind }) => kind === 'nft-table')).toHaveLength(1);
    const parameters = resources.filter(({ kind }) => kind === 'sysctl').map((each) => JSON.stringify(each));
    expect(new Set(parameters).size).toBe(parameters.length);
  });
});
