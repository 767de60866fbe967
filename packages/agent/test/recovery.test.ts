import fs from 'node:fs';
import path from 'node:path';
import { linuxRegistry } from '@podwire/backend-linux';
import { describe, expect, test } from 'vitest';
import { openRecordDirectory } from '../src/records/directory.js';
import type { Phase } from '../src/records/record.js';
import { createHarness, createReadyHarness, type Harness, keyOf } from './fakes/harness.js';
import { containing, matching } from './fakes/matchers.js';
import { makeDirectory } from './fakes/sockets.js';

const addressesOf = (agent: Harness): string[] =>
  (agent.context.networks[0]?.ipam.leases() ?? []).map(({ address }) => address).toSorted();

const setPhase = (agent: Harness, id: string, phase: Phase): void => {
  const record = agent.records.records.get(keyOf(id))!;
  agent.records.records.set(keyOf(id), { ...record, phase });
};

const fileOf = (id: string, phase: Phase) => ({
  name: `${keyOf(id)}.${phase}`,
  id: { network: 'podwire', containerId: id, ifName: 'eth0' },
  phase,
});

const started = async (before: Harness): Promise<{ agent: Harness; problems: string[] }> => {
  const agent = before.restart();
  return { agent, problems: await agent.recover() };
};

describe('recovery', () => {
  test('adopts what is ready and changes nothing', async () => {
    const before = await createReadyHarness();
    const config = { runtimeConfig: { portMappings: [{ hostPort: 80, containerPort: 80 }] } };
    const { json } = await before.call('ADD', { config });
    const { agent, problems } = await started(before);
    expect(problems).toEqual([]);
    expect(agent.reconciler.last).toMatchObject({ changes: [], removed: [], failures: [] });
    expect((await agent.call('ADD', { config })).json).toEqual(json);
    expect((await agent.call('ADD', { id: 'c2', config })).json).toMatchObject({ code: 103 });
    expect((await agent.call('ADD', { id: 'c2' })).json).toMatchObject({
      ips: [{ address: '10.244.0.2/32' }, {}],
    });
  });

  test.each(['wiring', 'removing'] as const)('finishes what was %s', async (phase) => {
    const before = await createReadyHarness();
    await before.call('ADD');
    setPhase(before, 'c1', phase);
    const { agent } = await started(before);
    expect(agent.reconciler.last?.removed).toEqual([keyOf('c1')]);
    expect(agent.engine.of(`endpoint:${keyOf('c1')}`)).toEqual([]);
    expect(agent.records.records.size).toBe(0);
    expect(addressesOf(agent)).toEqual([]);
  });

  test('removes endpoints whose namespace is gone or another one', async () => {
    const before = await createReadyHarness();
    for (const id of ['c1', 'c2', 'c3']) await before.call('ADD', { id });
    before.namespaces.set('/run/netns/c1', undefined);
    before.namespaces.set('/run/netns/c2', 4242);
    const { agent } = await started(before);
    expect(agent.context.endpoints.all().map(({ id }) => id.containerId)).toEqual(['c3']);
    expect(addressesOf(agent)).toEqual(['10.244.0.3', 'fd00:244::3']);
  });

  test('keeps one whose namespace cannot be looked at', async () => {
    const before = await createReadyHarness();
    await before.call('ADD');
    before.namespaces.set('/run/netns/c1', 0);
    expect((await started(before)).agent.context.endpoints.size).toBe(1);
  });

  test('prunes what no record names', async () => {
    const before = await createReadyHarness();
    await before.call('ADD');
    before.records.records.clear();
    const { agent } = await started(before);
    expect(agent.engine.of(`endpoint:${keyOf('c1')}`)).toEqual([]);
  });

  test('an address of two records stays with the complete one, and the other is reported', async () => {
    const before = await createReadyHarness();
    await before.call('ADD', { id: 'c1' });
    await before.call('ADD', { id: 'c2' });
    const [first, second] = ['c1', 'c2'].map((id) => before.records.records.get(keyOf(id))!);
    before.records.records.set(keyOf('c2'), {
      ...second!,
      leases: first!.leases,
      createdAt: first!.createdAt + 1,
    });
    const { agent } = await started(before);
    expect(agent.reconciler.last?.failures).toEqual([
      matching(/^container c2: .*10\.244\.0\.1/),
      matching(/^container c2: .*fd00:244::1/),
    ]);
    await agent.call('DEL', { id: 'c2' });
    expect(addressesOf(agent)).toEqual(['10.244.0.1', 'fd00:244::1']);
  });

  test('deletes a torn file of an ADD, reports other broken ones', async () => {
    const before = await createReadyHarness();
    await before.call('ADD');
    before.records.broken = [
      { ...fileOf('c7', 'wiring'), reason: 'Unexpected end of JSON input', isTorn: true },
      { ...fileOf('c1', 'wiring'), reason: 'beside a whole one', isTorn: true },
      { name: 'notes.txt', reason: 'not an endpoint record' },
      { ...fileOf('c8', 'ready'), reason: 'Unexpected end of JSON input', isTorn: true },
    ];
    const { agent, problems } = await started(before);
    expect(problems).toEqual([
      'podwire,c1,eth0.wiring: beside a whole one',
      'notes.txt: not an endpoint record',
      'podwire,c8,eth0.ready: Unexpected end of JSON input',
    ]);
    expect(agent.records.broken.map(({ name }) => name)).not.toContain('podwire,c7,eth0.wiring');
    expect(agent.context.endpoints.size).toBe(1);
  });

  test('holds the address of a pod whose record is torn until its DEL', async () => {
    const before = await createReadyHarness();
    await before.call('ADD', { id: 'c1' });
    const { address } = before.records.records.get(keyOf('c1'))!.leases[0]!;
    const text = JSON.stringify(before.records.records.get(keyOf('c1'))).slice(0, 400);
    expect(text).toContain(address);
    before.records.records.clear();
    before.records.broken = [{ ...fileOf('c1', 'ready'), reason: 'torn', text, isTorn: true }];
    const { agent, problems } = await started(before);
    expect(problems).toEqual(['podwire,c1,eth0.ready: torn']);
    expect(addressesOf(agent)).toContain(address);
    expect(JSON.stringify((await agent.call('ADD', { id: 'c2' })).json['ips'])).not.toContain(`"${address}/`);
    expect((await agent.call('DEL', { id: 'c1' })).ok).toBe(true);
    expect(addressesOf(agent)).not.toContain(address);
    expect(agent.context.broken.problems()).toEqual([]);
    expect(agent.records.broken).toEqual([]);
    // It cools down first.
    expect(JSON.stringify((await agent.call('ADD', { id: 'c3' })).json['ips'])).not.toContain(`"${address}/`);
  });

  test('holds what the kernel routes to a pod whose record says nothing', async () => {
    const before = await createReadyHarness();
    before.records.broken = [{ ...fileOf('c1', 'ready'), reason: 'not a regular file' }];
    const agent = before.restart({ dependencies: { readPodAddresses: () => ['10.244.0.1', '192.0.2.7'] } });
    await agent.recover();
    expect(addressesOf(agent)).toEqual(['10.244.0.1']);
    expect((await agent.call('ADD', { id: 'c2' })).json).toMatchObject({
      ips: [{ address: '10.244.0.2/32' }, {}],
    });
    expect((await agent.call('DEL', { id: 'c1' })).ok).toBe(true);
    expect(addressesOf(agent)).not.toContain('10.244.0.1');
  });

  test.each(['DEL', 'ADD', 'GC'])(
    '%s of an endpoint whose record is none takes the file away',
    async (command) => {
      const before = await createReadyHarness();
      before.records.broken = [{ ...fileOf('c1', 'ready'), reason: 'not an endpoint record' }];
      const { agent } = await started(before);
      expect((await agent.call(command)).ok).toBe(true);
      expect(agent.records.broken).toEqual([]);
      expect(agent.context.broken.problems()).toEqual([]);
    },
  );

  test("a record without the agent's own part is none", async () => {
    const before = await createReadyHarness();
    await before.call('ADD');
    const record = before.records.records.get(keyOf('c1'))!;
    const directory = makeDirectory();
    const text = JSON.stringify({ ...record, endpoint: { network: 'default', mac: 7 } });
    fs.writeFileSync(path.join(directory, 'podwire,c1,eth0.ready'), text);
    const agent = before.restart({
      dependencies: { records: openRecordDirectory(directory, linuxRegistry) },
    });
    const problems = await agent.recover();
    expect(problems).toEqual([containing('podwire,c1,eth0.ready: not an endpoint record: endpoint.')]);
    expect(addressesOf(agent)).toHaveLength(2);
    expect((await agent.call('DEL')).ok).toBe(true);
    expect(addressesOf(agent)).toEqual([]);
  });

  test('an endpoint of a network that is not configured any more lives on', async () => {
    const before = await createReadyHarness({
      yaml: 'networks: [{ name: old, pools: [{ cidr: 10.9.0.0/24 }] }]',
    });
    await before.call('ADD');
    const { engine, records, namespaces } = before;
    const agent = await createReadyHarness({ engine, records, namespaces });
    expect(agent.engine.of(`endpoint:${keyOf('c1')}`).length).toBeGreaterThan(3);
    expect((await agent.call('ADD')).json).toMatchObject({
      code: 4,
      msg: containing('network old'),
    });
  });

  test('a removal that fails at start keeps the address, and is tried again', async () => {
    const before = await createReadyHarness();
    await before.call('ADD');
    setPhase(before, 'c1', 'removing');
    const agent = before.restart();
    agent.engine.between = (point) => {
      if (point === 'remove veth') throw new Error('EBUSY');
    };
    await agent.recover();
    expect(agent.reconciler.last?.failures).toEqual([containing('EBUSY')]);
    expect(addressesOf(agent)).toHaveLength(2);
    agent.engine.between = () => undefined;
    await agent.reconciler.run();
    expect(addressesOf(agent)).toEqual([]);
  });
});

describe('reconcile', () => {
  test('repairs what another program removed', async () => {
    const agent = await createReadyHarness();
    await agent.call('ADD');
    const before = agent.engine.of(`endpoint:${keyOf('c1')}`).length;
    for (const [identity, { owner }] of agent.engine.present) {
      if (owner !== 'node') agent.engine.present.delete(identity);
    }
    const report = await agent.reconciler.run();
    expect(report.changes).toHaveLength(before);
    expect(agent.engine.of(`endpoint:${keyOf('c1')}`)).toHaveLength(before);
  });

  test('takes the MTU of a new uplink for new pods only', async () => {
    const agent = await createReadyHarness();
    await agent.call('ADD');
    agent.world.host = {
      ...agent.world.host,
      links: agent.world.host.links.map((link) => ({ ...link, mtu: 9000 })),
    };
    await agent.reconciler.run();
    expect((await agent.call('ADD', { id: 'c2' })).json).toMatchObject({
      interfaces: [{ mtu: 9000 }, { mtu: 9000 }],
    });
    expect((await agent.call('ADD')).json).toMatchObject({ interfaces: [{ mtu: 1450 }, { mtu: 1450 }] });
  });

  test('has the node alone until the agent is ready, and waits for requests that came before', async () => {
    const agent = createHarness();
    const order: string[] = [];
    agent.engine.between = (point) => void order.push(point.split(' ')[0]!);
    await Promise.all([agent.call('DEL'), agent.reconciler.run(), agent.call('ADD', { id: 'c2' })]);
    expect(order.filter((point, index) => point !== order[index - 1])).toEqual(['reconcile', 'apply']);
  });

  test('that fails as a whole leaves the agent ready, and says so', async () => {
    const agent = await createReadyHarness();
    agent.engine.repairWith = () => Promise.reject(new Error('netlink: ENOBUFS'));
    await expect(agent.reconciler.run()).rejects.toThrow('ENOBUFS');
    expect(agent.context.readiness).toMatchObject({
      ready: true,
      problem: containing('ENOBUFS'),
    });
  });

  test('the loop tries again quickly until the node is ready, then comes round', async () => {
    const agent = await createReadyHarness({ yaml: 'reconcileInterval: 1s' });
    const next = agent.restart();
    let failures = 1;
    next.engine.between = (point) => {
      if (point === 'reconcile' && failures-- > 0) throw new Error('not yet');
    };
    next.reconciler.start();
    await next.reconciler.ready;
    expect(next.context.readiness).toEqual({ ready: true, problem: undefined });
    await next.reconciler.stop();
    next.engine.between = () => undefined;
    await expect(next.reconciler.run()).rejects.toThrow('stopping');
  });

  test('a node that is not in order is not ready, and is tried again as quickly', async () => {
    const agent = createHarness();
    agent.engine.repairWith = () => {
      agent.engine.repairWith = () => undefined;
      const error = new Error('no nft');
      return Promise.resolve([{ owner: 'node', action: 'failed', what: 'table', error }]);
    };
    expect((await agent.reconciler.run()).failures).toEqual(['node: table: no nft']);
    expect(agent.context.readiness).toEqual({ ready: false, problem: 'node: table: no nft' });
    agent.reconciler.start();
    await agent.reconciler.ready;
    expect(agent.context.readiness).toEqual({ ready: true, problem: undefined });
    await agent.reconciler.stop();
  });

  test('a reconcile that takes too long says so', async () => {
    const agent = createHarness({ yaml: 'deadlines: { reconcile: 1s }' });
    agent.engine.repairWith = (_owned, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error));
      });
    await expect(agent.reconciler.run()).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED' });
    expect(agent.context.readiness.problem).toBe(
      'the node could not be reconciled: it took longer than 1000 ms',
    );
  });
});
