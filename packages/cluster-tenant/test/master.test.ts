/** The master over a store: what is written, what holds off another writer, what a restart finds. */
import { describe, expect, test } from 'vitest';
import type { PodwireError } from '@podwire/errors';
import { silentLog } from '@podwire/platform';
import type { Condition, Store } from '@podwire/store';
import { createMemoryServer, type MemoryFaults } from '@podwire/store/memory';
import {
  calls,
  type Endpoint,
  inspectObject,
  leaderKey,
  objectKinds,
  planDelete,
  planStart,
  TenantMaster,
} from '../src/index.js';
import { type EndpointOptions, endpointRequest, type Fields, networkOf } from './support.js';

const clock = { now: () => 1_000, elapsed: () => 0, sleep: () => Promise.resolve() };

class Setup {
  readonly server = createMemoryServer({ clock });
  readonly store = this.server.connect();

  open(store: Store = this.store, guard: readonly Condition[] = []): TenantMaster {
    const lost = new AbortController().signal;
    return new TenantMaster({ store, guard, deadline: 5_000, log: silentLog, lost });
  }

  async start(): Promise<TenantMaster> {
    const master = this.open();
    await master.write((cluster) => planStart(cluster, {}));
    return master;
  }

  /** Items below a folder, by the rest of their keys. */
  async read(folder: string): Promise<Readonly<Record<string, unknown>>> {
    const { items } = await this.store.list(`/contiv.io/${folder}/`);
    const rest = folder.length + '/contiv.io//'.length;
    return Object.fromEntries(items.map(({ key, value }) => [key.slice(rest), JSON.parse(value) as unknown]));
  }
}

const put = (master: TenantMaster, plural: string, key: string, body: unknown): Promise<unknown> =>
  master.write((cluster) => objectKinds.get(plural)!.planPut(cluster, key, body));

const putWeb = (master: TenantMaster, fields: Fields = {}): Promise<unknown> =>
  put(master, 'networks', 'default:web', networkOf({ ...fields }));

const call = (master: TenantMaster, name: string, body: unknown): Promise<unknown> =>
  master.write((cluster) => calls.get(name)!(cluster, body));

async function attach(master: TenantMaster, container: string, more: EndpointOptions = {}): Promise<string> {
  const answer = await call(master, 'createEndpoint', endpointRequest(container, more));
  return (answer as { EndpointConfig: Endpoint }).EndpointConfig.ipAddress;
}

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error: unknown) => (error as PodwireError).code,
  );

describe('what is stored', () => {
  test('has the keys and the fields of the original', async () => {
    const setup = new Setup();
    const master = await setup.start();
    await putWeb(master, { gateway: '10.1.1.254', cfgdTag: 'blue', subnet: '10.1.1.8-10.1.1.20/24' });
    const own = { tenantName: 'default' };
    await put(master, 'netprofiles', 'default:q', {
      ...own,
      profileName: 'q',
      DSCP: 10,
      bandwidth: '10 mbps',
    });
    await put(master, 'endpointGroups', 'default:g', {
      ...{ ...own, groupName: 'g', networkName: 'web', netProfile: 'q', ipPool: '10.1.1.10-10.1.1.12' },
    });
    await attach(master, 'c1', { group: 'g' });
    expect(await setup.read('state/nets')).toEqual({
      'web.default': {
        ...{ id: 'web.default', tenant: 'default', networkName: 'web', nwType: 'data', pktTagType: 'vxlan' },
        ...{ pktTag: 1, extPktTag: 1, subnetIP: '10.1.1.0', subnetLen: 24, gateway: '10.1.1.254' },
        ...{ ipAddrRange: '10.1.1.8-10.1.1.20', epAddrCount: 1, epCount: 1, networkTag: 'blue' },
        ipAllocMap: expect.any(String) as unknown,
        ...{ ipv6SubnetIP: '', ipv6SubnetLen: 0, ipv6Gateway: '', ipv6AllocMap: {}, ipv6LastHost: '' },
      },
    });
    expect(await setup.read('state/endpointGroups')).toEqual({
      'g:default': expect.objectContaining({
        ...{ id: 'g:default', endpointGroupId: 1, pktTag: 1, extPktTag: 1, epCount: 1, DSCP: 10 },
        ...{ Bandwidth: '10 mbps', Burst: 0, IPPool: '10.1.1.10-10.1.1.12', groupTag: 'g.default' },
      }) as unknown,
    });
    expect(await setup.read('state/eps')).toMatchObject({
      'web.default-c1': { ipAddress: '10.1.1.10', netID: 'web.default', endpointGroupKey: 'g:default' },
    });
    expect(Object.keys(await setup.read('obj/modeldb'))).toEqual([
      ...['endpointGroup/default:g', 'global/global', 'netprofile/default:q', 'network/default:web'],
      'tenant/default',
    ]);
    expect(await setup.read('obj/modeldb')).toMatchObject({
      'tenant/default': { key: 'default', 'link-sets': { Networks: { 'default:web': { type: 'network' } } } },
    });
    expect(await setup.read('master/config')).toMatchObject({ global: { 'fwd-mode': 'bridge' } });
    expect(await setup.read('state/global')).toMatchObject({ global: { auto: { VLANs: '1-4094' } } });
  });

  test('has the map of addresses as a set of bits', async () => {
    const setup = new Setup();
    const master = await setup.start();
    await putWeb(master, { subnet: '10.1.1.0/28', gateway: '10.1.1.14' });
    await attach(master, 'c1');
    const { 'web.default': state } = await setup.read('state/nets');
    const bytes = Buffer.from((state as { ipAllocMap: string }).ipAllocMap, 'base64url');
    expect(bytes.readBigUInt64BE(0)).toBe(16n);
    expect(bytes.readBigUInt64BE(8).toString(2)).toBe('1100000000000011');
  });

  test('follows a netprofile that changes', async () => {
    const setup = new Setup();
    const master = await setup.start();
    await putWeb(master);
    const profile = { tenantName: 'default', profileName: 'q' };
    await put(master, 'netprofiles', 'default:q', { ...profile, DSCP: 10 });
    const group = { tenantName: 'default', groupName: 'g', networkName: 'web', netProfile: 'q' };
    await put(master, 'endpointGroups', 'default:g', group);
    await put(master, 'netprofiles', 'default:q', { ...profile, burst: 100 });
    expect(await setup.read('state/endpointGroups')).toMatchObject({ 'g:default': { DSCP: 0, Burst: 100 } });
  });

  test('is gone when it is deleted, and nothing is left behind', async () => {
    const setup = new Setup();
    const master = await setup.start();
    const empty = await setup.store.list('/contiv.io/');
    await putWeb(master);
    await put(master, 'policys', 'default:p', { tenantName: 'default', policyName: 'p' });
    const rule = { tenantName: 'default', policyName: 'p', direction: 'in', action: 'allow' };
    for (let number = 0; number < 200; number++)
      await put(master, 'rules', `default:p:${number}`, { ...rule, ruleId: String(number) });
    await attach(master, 'c1');
    await call(master, 'allocAddress', { NetworkID: 'web.default' });
    await call(master, 'deleteEndpoint', { TenantName: 'default', NetworkName: 'web', EndpointID: 'c1' });
    // More than one transaction holds.
    await master.write((cluster) => planDelete(cluster, 'policy', 'default:p'));
    await master.write((cluster) => planDelete(cluster, 'network', 'default:web'));
    const left = await setup.store.list('/contiv.io/');
    expect(left.items.map(({ key, value }) => [key, value])).toEqual(
      empty.items.map(({ key, value }) => [key, value]),
    );
  });

  test('is not touched by a refusal', async () => {
    const setup = new Setup();
    const master = await setup.start();
    await putWeb(master);
    const { revision } = setup.server;
    expect(await codeOf(putWeb(master, { gateway: '10.1.1.1' }))).toBe('TENANT_CONFLICT');
    expect(await codeOf(attach(master, 'c1', { group: 'x' }))).toBe('OBJECT_UNKNOWN');
    expect(await codeOf(call(master, 'createEndpoint', {}))).toBe('REQUEST_INVALID');
    expect(await codeOf(putWeb(master))).toBe('done');
    expect(setup.server.revision).toBe(revision);
  });

  test('is one transaction for an endpoint', async () => {
    const setup = new Setup();
    const master = await setup.start();
    await putWeb(master);
    const { revision } = setup.server;
    await attach(master, 'c1');
    expect(setup.server.revision).toBe(revision + 1);
  });
});

describe('another master', () => {
  test('goes on with what is there', async () => {
    const setup = new Setup();
    const first = await setup.start();
    await putWeb(first, { encap: 'vlan', ipv6Subnet: 'fd00::/64' });
    await put(first, 'endpointGroups', 'default:g', {
      tenantName: 'default',
      groupName: 'g',
      networkName: 'web',
    });
    await attach(first, 'c1', { group: 'g' });
    await call(first, 'allocAddress', { NetworkID: 'web.default' });
    const look = (master: TenantMaster): Promise<unknown> =>
      master.read((cluster) => [
        inspectObject(cluster, 'network', 'default:web'),
        inspectObject(cluster, 'endpointGroup', 'default:g'),
        inspectObject(cluster, 'tenant', 'default'),
      ]);
    const { revision } = setup.server;
    const second = setup.open();
    expect(await look(second)).toEqual(await look(first));
    // There is nothing to put right.
    expect(setup.server.revision).toBe(revision);
    expect(await attach(second, 'c2')).toBe('10.1.1.3');
    expect(await attach(second, 'c1', { group: 'g' })).toBe('10.1.1.1');
  });

  test('holds off the one whose claim is gone', async () => {
    const setup = new Setup();
    const fence = await setup.store.put(leaderKey, '10.0.0.1:9999');
    const first = setup.open(setup.store, [{ key: leaderKey, expect: fence }]);
    await first.write((cluster) => planStart(cluster, {}));
    await setup.store.put(leaderKey, '10.0.0.2:9999');
    expect(await codeOf(putWeb(first))).toBe('STORE_CONFLICT');
    expect(await setup.read('state/nets')).toEqual({});
  });

  test('holds off the one whose claim is gone also where its request changes nothing', async () => {
    const setup = new Setup();
    const fence = await setup.store.put(leaderKey, '10.0.0.1:9999');
    const first = setup.open(setup.store, [{ key: leaderKey, expect: fence }]);
    await first.write((cluster) => planStart(cluster, {}));
    const putPolicy = (): Promise<unknown> =>
      put(first, 'policys', 'default:p', { tenantName: 'default', policyName: 'p' });
    await putPolicy();
    expect(await codeOf(putPolicy())).toBe('done');
    await setup.store.put(leaderKey, '10.0.0.2:9999');
    await setup.store.delete('/contiv.io/obj/modeldb/policy/default:p');
    expect(await codeOf(putPolicy())).toBe('STORE_CONFLICT');
  });

  test('puts right what does not follow from the objects', async () => {
    const setup = new Setup();
    const master = await setup.start();
    await putWeb(master);
    await attach(master, 'c1');
    const key = '/contiv.io/state/nets/web.default';
    const item = await setup.store.get(key);
    const state = { ...(JSON.parse(item!.value) as object), epCount: 7, epAddrCount: 9 };
    await setup.store.put(key, JSON.stringify(state));
    await setup.open().read(() => undefined);
    expect((await setup.store.get(key))?.value).toBe(item!.value);
  });

  test.each([
    ['/contiv.io/obj/modeldb/network/default:web', '{', 'cannot be read'],
    ['/contiv.io/obj/modeldb/network/default:web', '{"tenantName":"default"}', 'cannot be read'],
    ['/contiv.io/state/nets/web.default', undefined, 'is missing'],
    ['/contiv.io/state/nets/web.default', '{"pktTag":"1"}', 'cannot be read'],
    ['/contiv.io/state/eps/web.default-c1', '[]', 'cannot be read'],
    [
      '/contiv.io/state/eps/x.default-c1',
      '{"id":"x.default-c1","netID":"x.default","endpointID":"c1","ipAddress":"10.1.1.9"}',
      'is of network x.default, which is not there',
    ],
    [
      '/contiv.io/oper/addresses/default:x/10.1.1.9',
      '{"network":"default:x","group":"","address":"10.1.1.9"}',
      'is of network default:x, which is not there',
    ],
    [
      '/contiv.io/obj/modeldb/policy/red:p',
      '{"tenantName":"red","policyName":"p"}',
      'names tenant red, which is not there',
    ],
  ])('hands nothing out while %s is %s', async (key, value, words) => {
    const setup = new Setup();
    const master = await setup.start();
    await putWeb(master);
    await attach(master, 'c1');
    await (value === undefined ? setup.store.delete(key) : setup.store.put(key, value));
    const failure = await setup
      .open()
      .read(() => undefined)
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'OBJECT_INVALID' });
    expect((failure as Error).message).toContain(`${key} ${words}`);
  });
});

test('an object that the store cannot hold with its links is full, and nothing is stored', async () => {
  const server = createMemoryServer({ clock, limits: { valueBytes: 2_000 } });
  const store = server.connect();
  const lost = new AbortController().signal;
  const master = new TenantMaster({ store, guard: [], deadline: 5_000, log: silentLog, lost });
  await master.write((cluster) => planStart(cluster, {}));
  const putPolicy = (policyName: string): Promise<unknown> =>
    put(master, 'policys', `default:${policyName}`, { tenantName: 'default', policyName });
  let count = 0;
  while ((await codeOf(putPolicy(`p${count}`))) === 'done') count++;
  expect(count).toBeGreaterThan(10);
  const { revision } = server;
  const failure = await putPolicy('q').catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: 'TENANT_EXHAUSTED' });
  expect((failure as Error).message).toContain('/contiv.io/obj/modeldb/tenant/default: with its links');
  expect(server.revision).toBe(revision);
});

describe('a store that fails', () => {
  test.each(['request-lost', 'answer-lost'] as const)(
    'does not change what is there in silence: %s',
    async (fault) => {
      const setup = new Setup();
      const master = await setup.start();
      await putWeb(master);
      let isLosing = false;
      const faults: MemoryFaults = {
        decide: ({ operation }) => (isLosing && operation === 'transact' ? fault : undefined),
      };
      const shaky = setup.open(setup.server.connect(faults));
      await shaky.read(() => undefined);
      isLosing = true;
      expect(await codeOf(attach(shaky, 'c1'))).toBe('STORE_UNAVAILABLE');
      isLosing = false;
      expect(await attach(shaky, 'c1')).toBe('10.1.1.1');
      expect(await attach(shaky, 'c2')).toBe('10.1.1.2');
      expect(Object.keys(await setup.read('state/eps'))).toEqual(['web.default-c1', 'web.default-c2']);
    },
  );

  test('is asked again when a person was at work in it', async () => {
    const setup = new Setup();
    const master = await setup.start();
    await putWeb(master);
    await attach(master, 'c1');
    await setup.store.delete('/contiv.io/state/eps/web.default-c1');
    const key = '/contiv.io/state/nets/web.default';
    await setup.store.put(key, (await setup.store.get(key))!.value);
    expect(await attach(master, 'c2')).toBe('10.1.1.1');
  });
});

test('requests at the same time come one after the other', async () => {
  const setup = new Setup();
  const master = await setup.start();
  await putWeb(master);
  const names = Array.from({ length: 50 }, (_, number) => `c${number}`);
  const addresses = await Promise.all(names.map((name) => attach(master, name)));
  expect(new Set(addresses).size).toBe(50);
});
