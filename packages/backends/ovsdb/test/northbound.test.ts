/** Beyond the compliance suite: what one transaction is, rows of others among ours, groups, hints. */
import { createEngine, createKindRegistry, type Owned, type Resource, TouchIndex } from '@podwire/engine';
import type { OvsdbClient } from '@podwire/ovsdb';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { type Acl, createNorthboundBackend } from '../src/northbound/index.js';
import { connect } from './connect.js';
import { createFakeNorthbound, type FakeDatabase } from './fake-database.js';
import { addForeignPort, addForeignRows, base, owned, port } from './northbound-subject.js';

const call = () => ({ signal: AbortSignal.timeout(20_000) });

function open(at: FakeDatabase) {
  const client = connect(at);
  const backend = createNorthboundBackend(client);
  const engine = createEngine({ backends: [backend] });
  onTestFinished(() => engine.close());
  return { client, backend, engine, transact: vi.spyOn(client, 'transact') };
}

async function openWith(at: FakeDatabase, ...lists: readonly Owned[]) {
  const opened = open(at);
  for (const list of lists) await opened.engine.apply(list, call());
  opened.transact.mockClear();
  return opened;
}

/** All that was committed until now is in the cache, and in the feeds, when the answer is. */
const settle = (client: OvsdbClient): Promise<unknown> => client.transact([]);

const group = (name: string): Resource => ({ kind: 'port-group', name });
const groups: Owned = { owner: 'groups', resources: [group('one'), group('two')] };
const ownedPort = (...names: string[]): Owned => ({
  owner: 'pod',
  resources: [port('p0', { groups: names })],
});

type Row = Readonly<Record<string, unknown>>;

type Condition = readonly [string, '==', string];

const select = (at: FakeDatabase, table: string, where: readonly Condition[] = []): readonly Row[] => {
  const [result] = at.server.transact({ op: 'select', table, where });
  return (result as { readonly rows: readonly Row[] }).rows;
};

const uuidOf = (at: FakeDatabase, table: string, name: string): unknown =>
  select(at, table, [['name', '==', name]])[0]?.['_uuid'];

const membersOf = (at: FakeDatabase, name: string): unknown =>
  select(at, 'Port_Group', [['name', '==', name]])[0]?.['ports'];

const none = ['set', []];

describe('a transaction', () => {
  test('is one for a subnet that comes, for one that goes, and none where nothing differs', async () => {
    const { engine, transact } = await openWith(createFakeNorthbound(), base);
    await engine.apply(owned, call());
    expect(transact).toHaveBeenCalledTimes(1);
    expect(await engine.reconcile([base, owned], call())).toEqual([]);
    expect(transact).toHaveBeenCalledTimes(1);
    await engine.remove(owned, call());
    expect(transact).toHaveBeenCalledTimes(2);
  });

  test('puts new policies in the place of old ones: at no time is neither there', async () => {
    const at = createFakeNorthbound();
    const { engine, transact } = await openWith(at, base);
    const policy = (name: string, action: 'allow' | 'drop', match: string): Resource => ({
      ...{ kind: 'router-policy', name, router: 'vpc', priority: 30_000, match, action },
    });
    const set = (name: string): Resource => ({ kind: 'address-set', name, addresses: ['10.17.0.1'] });
    const old = [set('before'), policy('before', 'drop', 'ip4.src == $before')];
    const next = [set('after'), policy('after', 'drop', 'ip4.src == $after')];
    await engine.apply({ owner: 'policy', resources: old }, call());
    const cache = await connect(at).monitor({ Logical_Router_Policy: {}, Logical_Router: {} });
    const seen: number[] = [];
    cache.subscribe(() => seen.push(cache.rows('Logical_Router_Policy').size));
    transact.mockClear();
    await engine.change({ owner: 'policy' }, { remove: old, add: next }, call());
    expect(transact).toHaveBeenCalledTimes(1);
    await cache.until(() => seen.length > 0);
    expect(seen).toEqual([1]);
    expect(select(at, 'Logical_Router_Policy').map(({ match }) => match)).toEqual(['ip4.src == $after']);
    expect(select(at, 'Address_Set').map(({ name }) => name)).toEqual(['after']);
  });

  test('of a port that joins a group says nothing about the other members', async () => {
    const at = createFakeNorthbound();
    const many = Array.from({ length: 200 }, (_, n) => port(`many${n}`, { groups: ['one'] }));
    const { engine, transact } = await openWith(at, base, groups, { owner: 'many', resources: many });
    await engine.apply(ownedPort('one'), call());
    expect(transact).toHaveBeenCalledTimes(1);
    const [operations] = transact.mock.calls[0]!;
    const mutations = operations.filter((one) => one.op === 'mutate' && one.table === 'Port_Group');
    expect(mutations).toMatchObject([
      {
        mutations: [
          ['ports', 'delete', []],
          ['ports', 'insert', [expect.any(String)]],
        ],
      },
    ]);
  });
});

describe('groups', () => {
  test('of a port change in place, and the port stays the same row', async () => {
    const at = createFakeNorthbound();
    const { engine, transact } = await openWith(at, base, groups, ownedPort('one'));
    const uuid = uuidOf(at, 'Logical_Switch_Port', 'p0');
    expect([membersOf(at, 'one'), membersOf(at, 'two')]).toEqual([uuid, none]);
    await engine.change({ owner: 'pod' }, { replace: ownedPort('two').resources }, call());
    expect(transact).toHaveBeenCalledTimes(1);
    expect([membersOf(at, 'one'), membersOf(at, 'two')]).toEqual([none, uuid]);
    expect(uuidOf(at, 'Logical_Switch_Port', 'p0')).toEqual(uuid);
    await engine.remove(ownedPort('two'), call());
    expect(membersOf(at, 'two')).toEqual(none);
  });

  test('of others keep a port of ours, and groups of ours a port of others', async () => {
    const at = createFakeNorthbound();
    const { engine, client } = await openWith(at, base, groups, ownedPort('one'));
    const other = connect(at);
    await addForeignPort(other, 'foreign');
    const [ours, foreign] = ['p0', 'foreign'].map((name) => uuidOf(at, 'Logical_Switch_Port', name));
    const text = (uuid: unknown): string => (uuid as readonly string[])[1]!;
    await other.transact([
      { op: 'insert', table: 'Port_Group', row: { name: 'theirs', ports: [text(ours)] } },
      {
        ...{ op: 'mutate', table: 'Port_Group', where: [['name', '==', 'two']] },
        mutations: [['ports', 'insert', [text(foreign)]]],
      },
    ]);
    await settle(client);
    const wanted = [base, groups, ownedPort()];
    const changes = await engine.reconcile(wanted, call());
    expect(changes.map(({ action, what }) => `${action} ${what}`)).toEqual([
      'repaired port p0 of logical switch blue',
    ]);
    expect(['one', 'two', 'theirs'].map((name) => membersOf(at, name))).toEqual([none, foreign, ours]);
    expect(await engine.reconcile(wanted, call())).toEqual([]);
  });

  test('of others are not joined: nothing would take the port out of them again', async () => {
    const at = createFakeNorthbound();
    await connect(at).transact([{ op: 'insert', table: 'Port_Group', row: { name: 'theirs' } }]);
    const { engine } = await openWith(at, base);
    await expect(engine.apply(ownedPort('theirs'), call())).rejects.toMatchObject({
      ...{ code: 'ROW_TAKEN', message: 'port group theirs is not ours' },
    });
    expect(select(at, 'Logical_Switch_Port')).toEqual([]);
  });

  test('that are missing fail the port, in words', async () => {
    const { engine } = await openWith(createFakeNorthbound(), base);
    await expect(engine.apply(ownedPort('absent'), call())).rejects.toThrow('there is no port group absent');
  });
});

const acl = (name: string, on: Acl['on'], action: Acl['action'] = 'drop'): Acl => ({
  ...{ kind: 'acl', name, on, direction: 'to-lport', priority: 2_000, match: 'ip4', action },
});
const inBlue = { switch: 'blue' };
const inOne = { portGroup: 'one' };
const ownedAcl = (on: Acl['on']): Owned => ({ owner: 'policy', resources: [acl('c0', on)] });
const aclsOf = (at: FakeDatabase, table: string, name: string): unknown =>
  select(at, table, [['name', '==', name]])[0]?.['acls'];
const placesOf = (at: FakeDatabase): unknown => [
  aclsOf(at, 'Logical_Switch', 'blue'),
  aclsOf(at, 'Port_Group', 'one'),
];

describe('an ACL', () => {
  test('moves between a switch and a port group, and stays the same row', async () => {
    const at = createFakeNorthbound();
    const { engine, transact } = await openWith(at, base, groups, ownedAcl(inBlue));
    const uuid = select(at, 'ACL')[0]?.['_uuid'];
    expect(placesOf(at)).toEqual([uuid, none]);
    await engine.change({ owner: 'policy' }, { replace: ownedAcl(inOne).resources }, call());
    expect(placesOf(at)).toEqual([none, uuid]);
    await engine.change({ owner: 'policy' }, { replace: ownedAcl(inBlue).resources }, call());
    expect(placesOf(at)).toEqual([uuid, none]);
    expect(transact).toHaveBeenCalledTimes(2);
  });

  test('that others have put into a second place is taken out of it', async () => {
    const at = createFakeNorthbound();
    const { engine, client } = await openWith(at, base, groups, ownedAcl(inBlue));
    const uuid = select(at, 'ACL')[0]?.['_uuid'] as readonly string[];
    const where = [['name', '==', 'one']] as const;
    await connect(at).transact([{ op: 'update', table: 'Port_Group', where, row: { acls: [uuid[1]!] } }]);
    await settle(client);
    const [drift] = await engine.verify(ownedAcl(inBlue), call());
    expect(drift?.detail).toBe('ACL c0: it is in switch blue, port group one');
    await engine.reconcile([base, groups, ownedAcl(inBlue)], call());
    expect(placesOf(at)).toEqual([uuid, none]);
  });

  test('of a new policy takes the place of an old one: at no time is neither there', async () => {
    const at = createFakeNorthbound();
    const old = [group('before'), acl('before', { portGroup: 'before' })];
    const { engine, transact } = await openWith(at, base, { owner: 'policy', resources: old });
    const cache = await connect(at).monitor({ ACL: {}, Port_Group: {} });
    const seen: number[] = [];
    cache.subscribe(() => seen.push(cache.rows('ACL').size));
    const add = [group('after'), acl('after', { portGroup: 'after' }, 'reject')];
    await engine.change({ owner: 'policy' }, { remove: old, add }, call());
    expect(transact).toHaveBeenCalledTimes(1);
    await cache.until(() => seen.length > 0);
    expect(seen).toEqual([1]);
    expect(select(at, 'ACL')).toMatchObject([{ action: 'reject' }]);
  });

  test('of others keeps a port group of ours', async () => {
    const at = createFakeNorthbound();
    const { engine, client } = await openWith(at, groups);
    const row = { direction: 'to-lport', priority: 1, match: 'ip4', action: 'drop' };
    await connect(at).transact([
      { op: 'insert', table: 'ACL', row, uuidName: 'acl' },
      { op: 'update', table: 'Port_Group', where: [], row: { acls: [{ namedUuid: 'acl' }] } },
    ]);
    await settle(client);
    await expect(engine.remove(groups, call())).rejects.toThrow(
      /ACL [-0-9a-f]{36}, which is not ours, is in port group one/,
    );
    expect(select(at, 'Port_Group')).toHaveLength(2);
  });
});

const balancer = (name: string): Resource => ({
  ...{ kind: 'load-balancer', name, vips: { '10.96.0.10:80': ['10.16.0.5:80'] } },
});
const balanced: Owned = {
  owner: 'balanced',
  resources: [{ kind: 'logical-switch', name: 'green', loadBalancers: ['l0', 'l1'] }],
};

describe('a load balancer', () => {
  const balancers: Owned = { owner: 'services', resources: [balancer('l0'), balancer('l1')] };
  const usedBy = (at: FakeDatabase): unknown =>
    select(at, 'Logical_Switch', [['name', '==', 'green']])[0]?.['load_balancer'];

  test('that is missing fails the switch that uses it', async () => {
    const { engine } = await openWith(createFakeNorthbound());
    await expect(engine.apply(balanced, call())).rejects.toThrow('there is no load balancer l0');
  });

  test('that others have deleted, or put on a switch of ours, is repaired', async () => {
    const at = createFakeNorthbound();
    const { engine, client } = await openWith(at, balancers, balanced);
    const before = usedBy(at);
    const other = connect(at);
    await other.transact([
      { op: 'delete', table: 'Load_Balancer', where: [['name', '==', 'l0']] },
      { op: 'insert', table: 'Load_Balancer', row: { name: 'theirs' }, uuidName: 'theirs' },
      {
        ...{ op: 'mutate', table: 'Logical_Switch', where: [] },
        mutations: [['load_balancer', 'insert', [{ namedUuid: 'theirs' }]]],
      },
    ]);
    await settle(client);
    const changes = await engine.reconcile([balancers, balanced], call());
    expect(changes.map(({ action, what }) => `${action} ${what}`)).toEqual([
      ...['repaired load balancer l0', 'repaired logical switch green'],
    ]);
    expect(usedBy(at)).toEqual(before);
    expect(select(at, 'Load_Balancer')).toHaveLength(3);
  });
});

describe('rows of others', () => {
  test('in a switch or a router of ours keep it, and stay as they are', async () => {
    const at = createFakeNorthbound();
    const { engine, client } = await openWith(at, base);
    await addForeignRows(connect(at));
    await settle(client);
    const before = at.picture();
    const remove = (kind: string): Promise<void> =>
      engine.remove({ owner: 'vpc', resources: base.resources.filter((one) => one.kind === kind) }, call());
    const inSwitch = 'switch port foreign, which is not ours, is in switch blue';
    await expect(remove('logical-switch')).rejects.toThrow(inSwitch);
    await expect(remove('logical-router')).rejects.toThrow('which is not ours, is in router vpc');
    expect(at.picture()).toEqual(before);
  });

  test('with the name of a switch of ours get no port of ours, and lose one that was put there', async () => {
    const at = createFakeNorthbound();
    const { engine, client } = await openWith(at, base);
    const other = connect(at);
    await other.transact([{ op: 'insert', table: 'Logical_Switch', row: { name: 'blue' } }]);
    await settle(client);
    const pod: Owned = { owner: 'pod', resources: [port('p0')] };
    await engine.apply(pod, call());
    const uuid = uuidOf(at, 'Logical_Switch_Port', 'p0');
    const portsOf = () =>
      Object.fromEntries(
        select(at, 'Logical_Switch').map(({ external_ids: ids, ports }) => [
          JSON.stringify(ids).includes('podwire') ? 'ours' : 'theirs',
          ports,
        ]),
      );
    expect(portsOf()).toEqual({ ours: uuid, theirs: none });

    const member = (uuid as readonly string[])[1]!;
    const mark = { podwire: 'Logical_Switch/blue' };
    await other.transact([
      {
        ...{ op: 'update', table: 'Logical_Switch', where: [['external_ids', 'excludes', mark]] },
        row: { ports: [member] },
      },
      {
        ...{ op: 'update', table: 'Logical_Switch', where: [['external_ids', 'includes', mark]] },
        row: { ports: [] },
      },
    ]);
    await settle(client);
    expect(portsOf()).toEqual({ ours: none, theirs: uuid });
    const [drift] = await engine.verify(pod, call());
    expect(drift?.detail).toMatch(/^switch port p0: it is in switch [-0-9a-f]{36}$/);
    await engine.reconcile([base, pod], call());
    expect(portsOf()).toEqual({ ours: uuid, theirs: none });
  });

  test('take our ports: a switch that others made is no obstacle', async () => {
    const at = createFakeNorthbound();
    await connect(at).transact([{ op: 'insert', table: 'Logical_Switch', row: { name: 'blue' } }]);
    const { engine } = open(at);
    const pod: Owned = { owner: 'pod', resources: [port('p0')] };
    await engine.apply(pod, call());
    expect(await engine.verify(pod, call())).toEqual([]);
    await engine.remove(pod, call());
    expect(select(at, 'Logical_Switch')).toMatchObject([{ name: 'blue', ports: none }]);
    await expect(engine.apply(base, call())).rejects.toMatchObject({ code: 'ROW_TAKEN' });
  });
});

describe('the feed', () => {
  async function watch(at: FakeDatabase) {
    const all = [base, groups, ownedPort('one')];
    const { backend, client, engine } = await openWith(at, ...all);
    const index = new TouchIndex(createKindRegistry(backend.kinds));
    for (const each of all) index.put(each);
    const [feed] = backend.changes!;
    const changes = feed!.open();
    const owners = async () => {
      await settle(client);
      const leads = changes.read().hints.map((hint) => index.find(hint, feed!.place));
      return new Set(leads.flatMap((lead) => [...lead.owners]));
    };
    await owners();
    return { owners, engine, all };
  }

  test('leads from a group that lost a port to the owner of the port', async () => {
    const at = createFakeNorthbound();
    const { owners, engine, all } = await watch(at);
    await connect(at).transact([{ op: 'update', table: 'Port_Group', where: [], row: { ports: [] } }]);
    expect(await owners()).toEqual(new Set(['pod']));
    const changes = await engine.reconcile(all, call());
    expect(changes.map(({ what }) => what)).toEqual(['port p0 of logical switch blue']);
  });

  test('leads from a group that is gone to its owner, and to those of its ports', async () => {
    const at = createFakeNorthbound();
    const { owners, engine, all } = await watch(at);
    await connect(at).transact([{ op: 'delete', table: 'Port_Group', where: [['name', '==', 'one']] }]);
    expect(await owners()).toEqual(new Set(['groups', 'pod']));
    expect((await engine.reconcile(all, call())).map(({ action }) => action)).toEqual([
      'repaired',
      'repaired',
    ]);
    expect(await engine.reconcile(all, call())).toEqual([]);
  });

  test('leaves out what this program does', async () => {
    const at = createFakeNorthbound();
    const { owners, engine } = await watch(at);
    await engine.change({ owner: 'pod' }, { replace: ownedPort('two').resources }, call());
    await engine.remove(ownedPort('two'), call());
    expect(await owners()).toEqual(new Set());
  });

  test('leaves out what ovn-northd writes', async () => {
    const at = createFakeNorthbound();
    const { owners } = await watch(at);
    const other = connect(at);
    await other.transact([
      { op: 'update', table: 'Logical_Switch_Port', where: [], row: { up: true } },
      { op: 'insert', table: 'NB_Global', row: { sb_cfg: 4 } },
    ]);
    await other.transact([{ op: 'update', table: 'NB_Global', where: [], row: { sb_cfg: 5, hv_cfg: 5 } }]);
    expect(await owners()).toEqual(new Set());
  });
});
