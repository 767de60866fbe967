import { describe, expect, test } from 'vitest';
import { PodwireError } from '@podwire/errors';
import type { FakeEngine } from '../fakes/fake-engine.js';
import { createHarness, createReadyHarness, type Harness, keyOf } from '../fakes/harness.js';
import { containing, matching } from '../fakes/matchers.js';

const addresses = (agent: Harness): string[] =>
  (agent.context.networks[0]?.ipam.leases() ?? []).map(({ address }) => address);
const failOn = (agent: Harness, at: string): void => {
  agent.engine.between = (point) => {
    if (point === at) throw new PodwireError('REMOVE_INCOMPLETE', `${at}: EBUSY`);
  };
};
const heal = (agent: Harness): void => void (agent.engine.between = () => undefined);
const gate = (): { opened: Promise<void>; open: () => void } => {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
};
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('DEL', () => {
  test('takes everything away', async () => {
    const agent = await createReadyHarness();
    await agent.call('ADD');
    expect(await agent.call('DEL')).toEqual({ ok: true, body: '', json: {} });
    expect(agent.engine.of(`endpoint:${keyOf('c1')}`)).toEqual([]);
    expect(agent.records.records.size).toBe(0);
    expect(addresses(agent)).toEqual([]);
  });

  test('of what is not there succeeds, twice too, without a namespace too', async () => {
    const agent = await createReadyHarness();
    expect((await agent.call('DEL')).ok).toBe(true);
    await agent.call('ADD');
    expect((await agent.call('DEL', { netns: '' })).ok).toBe(true);
    expect((await agent.call('DEL', { netns: '' })).ok).toBe(true);
  });

  test('needs neither the network in the configuration nor a good configuration of the plugin', async () => {
    const before = await createReadyHarness({
      yaml: 'networks: [{ name: old, pools: [{ cidr: 10.9.0.0/24 }] }]',
    });
    await before.call('ADD');
    const { engine, records, namespaces } = before;
    const agent = await createReadyHarness({ engine, records, namespaces });
    expect(agent.context.endpoints.size).toBe(1);
    expect((await agent.call('DEL', { config: { network: 'nonsense', runtimeConfig: { ips: 4 } } })).ok).toBe(
      true,
    );
    expect(agent.engine.of(`endpoint:${keyOf('c1')}`)).toEqual([]);
  });

  test('marks the record before it touches anything, and frees the address last', async () => {
    const agent = await createReadyHarness();
    await agent.call('ADD');
    const seen = new Set<string>();
    agent.engine.between = () => {
      seen.add(`${agent.records.records.get(keyOf('c1'))?.phase} ${addresses(agent).length}`);
    };
    await agent.call('DEL');
    expect([...seen]).toEqual(['removing 2']);
  });

  test('that cannot finish keeps record, address and port, and is finished by the next', async () => {
    const agent = await createReadyHarness();
    const config = { runtimeConfig: { portMappings: [{ hostPort: 80, containerPort: 80 }] } };
    await agent.call('ADD', { config });
    failOn(agent, 'remove veth');
    const { ok, json } = await agent.call('DEL');
    expect(ok).toBe(false);
    expect(json).toMatchObject({ code: 105, msg: containing('EBUSY') });
    expect(agent.records.records.get(keyOf('c1'))?.phase).toBe('removing');
    expect(addresses(agent)).toHaveLength(2);
    expect((await agent.call('ADD', { id: 'c2', config })).json).toMatchObject({ code: 103 });
    heal(agent);
    expect((await agent.call('DEL')).ok).toBe(true);
    expect(agent.records.records.size).toBe(0);
    expect((await agent.call('ADD', { id: 'c2', config })).ok).toBe(true);
  });

  test('that cannot finish is finished by the next reconcile', async () => {
    const agent = await createReadyHarness();
    await agent.call('ADD');
    failOn(agent, 'remove veth');
    await agent.call('DEL');
    heal(agent);
    const report = await agent.reconciler.run();
    expect(report.removed).toEqual([keyOf('c1')]);
    expect(agent.records.records.size).toBe(0);
    expect(addresses(agent)).toEqual([]);
  });

  test('frees the address when only the record cannot be deleted, and tries that again', async () => {
    const agent = await createReadyHarness();
    await agent.call('ADD');
    agent.records.failing = new Set(['delete']);
    expect((await agent.call('DEL')).json).toMatchObject({ code: 5 });
    expect(addresses(agent)).toEqual([]);
    expect((await agent.call('DEL')).json).toMatchObject({ code: 5 });
    agent.records.failing = new Set();
    expect((await agent.call('DEL')).ok).toBe(true);
    expect(agent.records.records.size).toBe(0);
    expect(agent.context.endpoints.size).toBe(0);
  });

  test('waits for an ADD that is still running', async () => {
    const agent = await createReadyHarness();
    const { opened, open } = gate();
    agent.engine.between = (point) => (point === 'apply veth' ? opened : undefined);
    const adding = agent.call('ADD');
    await turn();
    const deleting = agent.call('DEL');
    await turn();
    expect(agent.engine.calls.at(-1)).toBe(`apply endpoint:${keyOf('c1')}`);
    open();
    expect((await adding).ok && (await deleting).ok).toBe(true);
    expect(agent.engine.present.size).toBe(agent.engine.of('node').length);
    expect(agent.context.endpoints.size).toBe(0);
  });

  test('one container may have several interfaces', async () => {
    const agent = await createReadyHarness();
    await agent.call('ADD');
    await agent.call('ADD', { ifName: 'net1' });
    await agent.call('DEL', { ifName: 'net1' });
    expect(agent.context.endpoints.all().map(({ id }) => id.ifName)).toEqual(['eth0']);
  });

  test('works before the node is ready', async () => {
    const before = await createReadyHarness();
    await before.call('ADD');
    const agent = before.restart();
    agent.engine.between = (point) => {
      if (point === 'reconcile') throw new PodwireError('KERNEL_REFUSED', 'nft: not found');
    };
    await expect(agent.recover()).rejects.toThrow('nft: not found');
    expect((await agent.call('ADD', { id: 'c2' })).json).toMatchObject({ code: 11 });
    expect((await agent.call('DEL')).ok).toBe(true);
    expect((await agent.call('STATUS')).json).toMatchObject({
      code: 50,
      msg: containing('nft'),
    });
  });
});

describe('CHECK', () => {
  const checked = async (agent: Harness, change: object = {}) => {
    const { json: prevResult } = await agent.call('ADD');
    return agent.call('CHECK', { config: { prevResult: { ...prevResult, ...change } } });
  };

  test('succeeds when all is there', async () => {
    expect(await checked(await createReadyHarness())).toEqual({ ok: true, body: '', json: {} });
  });

  test.each(['0.4.0', '1.0.0', '1.1.0'])('takes the result of version %s', async (cniVersion) => {
    const agent = await createReadyHarness();
    const { json: prevResult } = await agent.call('ADD', { config: { cniVersion } });
    expect((await agent.call('CHECK', { config: { cniVersion, prevResult } })).ok).toBe(true);
  });

  test('lets plugins behind add to the result', async () => {
    const agent = await createReadyHarness();
    const { json } = await agent.call('ADD');
    const interfaces = [{ name: 'br0' }, ...(json['interfaces'] as object[])];
    expect((await agent.call('CHECK', { config: { prevResult: { ...json, interfaces } } })).ok).toBe(true);
  });

  test('names everything that is missing', async () => {
    const agent = await createReadyHarness();
    const { json: prevResult } = await agent.call('ADD');
    for (const [identity, { resource }] of agent.engine.present) {
      if (resource.kind === 'route' && resource.destination === '10.244.0.1/32')
        agent.engine.present.delete(identity);
    }
    agent.context.networks[0]?.ipam.release(keyOf('c1'));
    const { json } = await agent.call('CHECK', { config: { prevResult } });
    expect(json).toMatchObject({ code: 101 });
    expect(json.msg).toMatch(
      /container c1: the address 10\.244\.0\.1 is not leased.*; route missing: it is not there$/,
    );
  });

  test.each([
    [{ ips: [{ address: '10.244.0.1/32' }] }, 'prevResult lacks the address fd00:244::1/128'],
    [{ ips: [] }, 'prevResult lacks the address 10.244.0.1/32'],
    [{ interfaces: [{ name: 'eth0', sandbox: '/run/netns/c1' }] }, 'prevResult lacks the interface cali'],
  ])('compares prevResult %j', async (change, message) => {
    const agent = await createReadyHarness();
    expect((await checked(agent, change)).json).toMatchObject({
      code: 101,
      msg: containing(message),
    });
  });

  test('another namespace than that of ADD', async () => {
    const agent = await createReadyHarness();
    const { json: prevResult } = await agent.call('ADD');
    const { json } = await agent.call('CHECK', { netns: '/run/netns/c2', config: { prevResult } });
    expect(json).toMatchObject({
      code: 101,
      msg: containing('/run/netns/c2 is not the namespace of ADD'),
    });
  });

  test('needs prevResult, and version 0.4.0', async () => {
    const agent = await createReadyHarness();
    await agent.call('ADD');
    expect((await agent.call('CHECK')).json).toMatchObject({
      code: 7,
      msg: containing('prevResult'),
    });
    const old = await agent.call('CHECK', { config: { cniVersion: '0.3.1' } });
    expect(old.json).toMatchObject({ code: 1, msg: containing('no CHECK') });
  });

  test('of an endpoint that is not there', async () => {
    const agent = await createReadyHarness();
    expect((await agent.call('CHECK')).json).toMatchObject({
      code: 3,
      msg: containing('ENDPOINT_UNKNOWN'),
    });
  });

  test('of an endpoint that is going away', async () => {
    const agent = await createReadyHarness();
    await agent.call('ADD');
    failOn(agent, 'remove veth');
    await agent.call('DEL');
    heal(agent);
    expect((await agent.call('CHECK')).json).toMatchObject({ code: 3 });
  });
});

describe('GC', () => {
  const valid = (...ids: string[]) => ({
    config: { 'cni.dev/valid-attachments': ids.map((id) => ({ containerID: id, ifname: 'eth0' })) },
  });
  const populated = async (): Promise<Harness> => {
    const agent = await createReadyHarness();
    for (const id of ['c1', 'c2', 'c3']) await agent.call('ADD', { id });
    await agent.call('ADD', { id: 'c2', ifName: 'net1' });
    await agent.call('ADD', { id: 'x1', config: { name: 'other' } });
    return agent;
  };
  const keys = (agent: Harness): string[] =>
    agent.context.endpoints.all().map(({ id }) => `${id.network}/${id.containerId}/${id.ifName}`);

  test('removes what is not in the list, of its network only', async () => {
    const agent = await populated();
    expect((await agent.call('GC', valid('c2', 'c9'))).ok).toBe(true);
    expect(keys(agent)).toEqual(['podwire/c2/eth0', 'other/x1/eth0']);
  });

  test('an empty list, and none at all, leave nothing of the network', async () => {
    const agent = await populated();
    expect((await agent.call('GC', valid())).ok).toBe(true);
    expect(keys(agent)).toEqual(['other/x1/eth0']);
    expect((await agent.call('GC', { config: { name: 'other' } })).ok).toBe(true);
    expect(keys(agent)).toEqual([]);
  });

  test('goes on after a failure and reports all of them', async () => {
    const agent = await populated();
    agent.engine.between = (point) => {
      if (point === 'remove veth' && /c1|c3/.test(agent.engine.calls.at(-1) ?? '')) throw new Error('EBUSY');
    };
    const { json } = await agent.call('GC', valid());
    expect(json).toMatchObject({ code: 105, msg: matching(/2 of 4 endpoints .*EBUSY; EBUSY/) });
    expect(keys(agent)).toEqual(['podwire/c1/eth0', 'podwire/c3/eth0', 'other/x1/eth0']);
    const removed = agent.logged.filter(({ msg }) => msg === 'GC removed an endpoint');
    expect(removed.map(({ endpoint }) => endpoint)).toEqual([keyOf('c2'), keyOf('c2', 'net1')]);
  });

  test('has the node alone', async () => {
    const agent = await populated();
    const { opened, open } = gate();
    agent.engine.between = (point) => (point === 'apply veth' ? opened : undefined);
    const adding = agent.call('ADD', { id: 'c4' });
    await turn();
    const collecting = agent.call('GC', valid('c1', 'c2', 'c3', 'c4'));
    const later = agent.call('DEL', { id: 'c1' });
    await turn();
    expect(agent.engine.calls.filter((call) => call.startsWith('remove'))).toEqual([]);
    open();
    expect((await adding).ok && (await collecting).ok && (await later).ok).toBe(true);
    const removals = agent.engine.calls.filter((call) => call.startsWith('remove'));
    expect(removals).toEqual([`remove endpoint:${keyOf('c2', 'net1')}`, `remove endpoint:${keyOf('c1')}`]);
  });

  test('needs version 1.1.0', async () => {
    const agent = await createReadyHarness();
    expect((await agent.call('GC', { config: { cniVersion: '1.0.0' } })).json).toMatchObject({ code: 1 });
  });
});

describe('STATUS and VERSION', () => {
  test('ready', async () => {
    expect(await (await createReadyHarness()).call('STATUS')).toEqual({ ok: true, body: '', json: {} });
  });

  test('not ready is 50', async () => {
    expect((await createHarness().call('STATUS')).json).toMatchObject({
      code: 50,
      msg: containing('starting'),
    });
  });

  test('no address left is 50, for the network that is asked about', async () => {
    const yaml = `networks:
- { name: small, pools: [{ cidr: 10.1.0.0/32 }, { cidr: "fd00:1::/64" }] }
- { name: large, pools: [{ cidr: 10.2.0.0/16 }] }`;
    const agent = await createReadyHarness({ yaml });
    await agent.call('ADD', { config: { network: 'small' } });
    const { json } = await agent.call('STATUS', { config: { network: 'small' } });
    expect(json).toMatchObject({
      code: 50,
      msg: matching(/no free IPv4 address left in 10\.1\.0\.0\/32/),
    });
    expect((await agent.call('STATUS', { config: { network: 'large' } })).ok).toBe(true);
  });

  test('a node that cannot be brought in order is 50, with pods 51, and gets no new pods', async () => {
    const agent = await createReadyHarness();
    const failing: FakeEngine['repairWith'] = ({ owner }) =>
      owner === 'node'
        ? Promise.resolve([
            { owner, action: 'failed', what: 'nft-table inet podwire', error: new Error('EPERM') },
          ])
        : undefined;
    agent.engine.repairWith = failing;
    await agent.reconciler.run();
    expect((await agent.call('STATUS')).json).toMatchObject({ code: 50, msg: containing('EPERM') });
    expect((await agent.call('ADD')).json).toMatchObject({ code: 11, msg: containing('EPERM') });

    agent.engine.repairWith = () => undefined;
    await agent.reconciler.run();
    expect((await agent.call('STATUS')).ok).toBe(true);
    expect((await agent.call('ADD')).ok).toBe(true);

    agent.engine.repairWith = failing;
    await agent.reconciler.run();
    expect((await agent.call('STATUS')).json).toMatchObject({ code: 51, msg: containing('EPERM') });
    expect((await agent.call('DEL')).ok).toBe(true);
  });

  test('a network that is not there', async () => {
    const agent = await createReadyHarness();
    expect((await agent.call('STATUS', { config: { network: 'x' } })).json).toMatchObject({ code: 7 });
  });

  test('VERSION reads nothing', async () => {
    expect((await createHarness().call('VERSION', { stdin: '' })).json).toEqual({
      cniVersion: '1.1.0',
      supportedVersions: ['0.1.0', '0.2.0', '0.3.0', '0.3.1', '0.4.0', '1.0.0', '1.1.0'],
    });
  });
});
