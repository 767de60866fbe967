/** Beyond the compliance suite: transactions, rows of others, hints, restarts and lost answers. */
import { setImmediate } from 'node:timers/promises';
import {
  createEngine,
  createKindRegistry,
  type Engine,
  type Owned,
  type Resource,
  TouchIndex,
} from '@podwire/engine';
import type { OvsdbClient } from '@podwire/ovsdb';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createSwitchBackend } from '../src/index.js';
import { addForeignPort, bridge, owned, port, queue, removePort } from './compliance-subject.js';
import { connect } from './connect.js';
import { createFakeSwitch, type FakeDatabase } from './fake-database.js';

const node: Owned = { owner: 'node', resources: [bridge] };
const all = [node, owned];
const call = () => ({ signal: AbortSignal.timeout(20_000) });

function open(at: FakeDatabase) {
  const client = connect(at);
  const backend = createSwitchBackend(client);
  const engine = createEngine({ backends: [backend] });
  onTestFinished(() => engine.close());
  const send = client.transact.bind(client);
  return { client, backend, engine, send, transact: vi.spyOn(client, 'transact') };
}

/** All that was committed until now is in the cache, and in the feeds, when the answer is. */
const settle = (client: OvsdbClient): Promise<unknown> => client.transact([]);

async function applyAll(engine: Engine): Promise<void> {
  for (const each of all) await engine.apply(each, call());
}

describe('transactions', () => {
  test('are one for each list that comes, changes or goes, and none where nothing differs', async () => {
    const { engine, transact } = open(createFakeSwitch());
    await engine.apply(node, call());
    await engine.apply(owned, call());
    expect(transact).toHaveBeenCalledTimes(2);
    await engine.verify(owned, call());
    await engine.reconcile(all, call());
    expect(transact).toHaveBeenCalledTimes(2);
    const change = { remove: [port('tap0')], add: [port('tap1'), queue('more', 3)] };
    await engine.change({ owner: 'network:1' }, change, call());
    expect(transact).toHaveBeenCalledTimes(3);
    await engine.remove(owned, call());
    expect(transact).toHaveBeenCalledTimes(4);
  });

  test('of a repair are one, however much differs', async () => {
    const at = createFakeSwitch();
    const { engine, client, transact } = open(at);
    await applyAll(engine);
    const other = connect(at);
    await removePort(other, 'web1');
    await other.transact([{ op: 'update', table: 'Queue', where: [], row: { dscp: 9 } }]);
    await settle(client);
    transact.mockClear();
    const changes = await engine.reconcile(all, call());
    expect(changes.map(({ action }) => action)).toEqual(['repaired', 'repaired', 'repaired']);
    expect(transact).toHaveBeenCalledTimes(1);
  });

  test('of a repair leave out what the database refuses, and make all else', async () => {
    const { engine } = open(createFakeSwitch());
    await engine.apply(node, call());
    const good = [port('p0'), port('p1'), queue('q', 1), port('p2')];
    const bad: Resource = { kind: 'ovs-bridge', name: 'br9', failMode: 'open' as 'secure' };
    const wanted: Owned = { owner: 'mixed', resources: [...good.slice(0, 2), bad, ...good.slice(2)] };
    const changes = await engine.reconcile([node, wanted], call());
    const failed = changes.filter(({ action }) => action === 'failed');
    expect(failed.map(({ what }) => what)).toEqual(['bridge br9']);
    expect(await engine.verify({ owner: 'mixed', resources: good }, call())).toEqual([]);
  });

  test('of a new process are none: it takes over what is there', async () => {
    const at = createFakeSwitch();
    await applyAll(open(at).engine);
    const before = at.picture();
    const { engine, transact } = open(at);
    expect(await engine.reconcile(all, call())).toEqual([]);
    expect(transact).not.toHaveBeenCalled();
    expect(at.picture()).toEqual(before);
  });

  test('replace content in place: rows keep their uuids', async () => {
    const at = createFakeSwitch();
    const { engine } = open(at);
    await applyAll(engine);
    const cache = await connect(at).monitor({ Port: {}, Interface: {}, Bridge: {} });
    const types: string[] = [];
    cache.subscribe(({ changes }) => changes.forEach(({ type, table }) => types.push(`${type} ${table}`)));
    const change = {
      remove: [port('web0', { tag: 5, qos: 'gold' })],
      add: [port('web0', { tag: 6, qos: 'gold' })],
    };
    await engine.change({ owner: 'network:1' }, change, call());
    await cache.until(() => types.length > 0);
    expect(types).toEqual(['modify Port']);
  });

  test('move a link from a port of its own into a bond, where it stays the same interface', async () => {
    const at = createFakeSwitch();
    const { engine } = open(at);
    await engine.apply(node, call());
    const link = (name: string) => ({ name, type: 'internal' });
    const single: Resource = { kind: 'ovs-port', name: 'e1', bridge: 'br0', interfaces: [link('e1')] };
    const bond: Resource = { ...single, name: 'bond0', interfaces: [link('e1'), link('e2')] };
    await engine.apply({ owner: 'uplink', resources: [single] }, call());
    const cache = await connect(at).monitor({ Interface: { columns: ['name'] } });
    const types: string[] = [];
    cache.subscribe(({ changes }) => changes.forEach(({ type }) => types.push(type)));
    await engine.change({ owner: 'uplink' }, { remove: [single], add: [bond] }, call());
    expect(await engine.verify({ owner: 'uplink', resources: [bond] }, call())).toEqual([]);
    await cache.until(() => types.length > 0);
    expect(types).toEqual(['insert']);
    await engine.change({ owner: 'uplink' }, { remove: [bond], add: [single] }, call());
    expect(await engine.verify({ owner: 'uplink', resources: [single] }, call())).toEqual([]);
  });

  test('whose answer is lost are carried out once', async () => {
    const at = createFakeSwitch();
    const { engine, transact, send } = open(at);
    await engine.apply(node, call());
    transact.mockClear();
    transact.mockImplementationOnce((operations, options) => {
      at.server.setSilent(true);
      void untilCommitted(at, 'web1').then(() => {
        at.server.cut();
        at.server.setSilent(false);
      });
      return send(operations, options);
    });
    await engine.apply(owned, call());
    expect(transact).toHaveBeenCalledTimes(1);
    await expect(transact.mock.results[0]!.value).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
    expect(await engine.verify(owned, call())).toEqual([]);
  });

  test('that find other rows than they were made for are made anew', async () => {
    const at = createFakeSwitch();
    const { engine, transact, send } = open(at);
    await applyAll(engine);
    const other = connect(at);
    transact.mockClear();
    transact.mockImplementationOnce(async (operations, options) => {
      await removePort(other, 'web0');
      return send(operations, options);
    });
    const retagged = port('web0', { tag: 6, qos: 'gold' });
    await engine.change({ owner: 'network:1' }, { replace: [retagged] }, call());
    expect(transact).toHaveBeenCalledTimes(2);
    expect(await engine.verify({ owner: 'network:1', resources: [retagged] }, call())).toEqual([]);
  });

  test('and answers are no part of a look', async () => {
    const at = createFakeSwitch();
    const { engine } = open(at);
    await applyAll(engine);
    at.server.setSilent(true);
    expect(await engine.verify(owned, call())).toEqual([]);
    expect(await engine.reconcile(all, call())).toEqual([]);
  });

  test('fail as a silent backend where the database cannot be reached', async () => {
    const at = createFakeSwitch();
    at.server.stop();
    const client = connect({ ...at, client: { ...at.client, timeout: 20 } });
    const engine = createEngine({ backends: [createSwitchBackend(client)] });
    onTestFinished(() => engine.close());
    await expect(engine.verify(node, call())).rejects.toMatchObject({ code: 'BACKEND_SILENT' });
    const [change] = await engine.reconcile([node], call());
    expect(change).toMatchObject({ action: 'failed', error: { code: 'BACKEND_SILENT' } });
  });

  test('are not sent for a caller that has given up', async () => {
    const at = createFakeSwitch();
    const { backend, transact } = open(at);
    const session = backend.open(node, undefined as never);
    const batch = { backend: 'ovs', name: 'rows', place: 'Open_vSwitch', resources: [bridge] };
    const reason = new Error('given up');
    await expect(session.create(batch, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(transact).not.toHaveBeenCalled();
  });
});

describe('rows of others', () => {
  test('with the name of ours are a conflict, and stay', async () => {
    const at = createFakeSwitch();
    const { engine, client } = open(at);
    await engine.apply(node, call());
    await addForeignPort(connect(at), 'web0');
    await settle(client);
    const before = at.picture();
    await expect(engine.apply(owned, call())).rejects.toMatchObject({ code: 'ROW_TAKEN' });
    expect(at.picture()).toEqual(before);
    const changes = await engine.reconcile(all, call());
    const failed = changes.filter(({ action }) => action === 'failed');
    expect(failed.map(({ what }) => what)).toEqual(['port web0 of br0', 'mirror tap of br0']);
    await engine.remove(owned, call());
    expect(at.picture()).toEqual(before);
  });

  test('in a bridge of ours keep it from being removed', async () => {
    const at = createFakeSwitch();
    const { engine, client } = open(at);
    await engine.apply(node, call());
    const other = connect(at);
    await addForeignPort(other, 'foreign0');
    await settle(client);
    const refused = engine.remove(node, call());
    await expect(refused).rejects.toThrow('port foreign0, which is not ours, is in bridge br0');
    await removePort(other, 'foreign0');
    await settle(client);
    await engine.remove(node, call());
    expect(JSON.stringify(at.picture())).not.toContain('br0');
  });

  test('go with a bridge of ours where ovn-controller has made them there', async () => {
    const at = createFakeSwitch();
    const { engine, client } = open(at);
    await engine.apply(node, call());
    await addForeignPort(connect(at), 'patch-net-to-br-int');
    const ids = { 'ovn-localnet-port': 'net' };
    const where = [['name', '==', 'patch-net-to-br-int']] as const;
    await client.transact([
      { op: 'mutate', table: 'Port', where, mutations: [['external_ids', 'insert', ids]] },
    ]);
    await engine.remove(node, call());
    expect(JSON.stringify(at.picture())).not.toContain('br0');
  });

  test('keep their pairs in external_ids of ours', async () => {
    const at = createFakeSwitch();
    const { engine, client } = open(at);
    await applyAll(engine);
    const ours: Owned = { owner: 'p', resources: [port('p0')] };
    await engine.apply(ours, call());
    const row = { op: 'mutate', table: 'Interface', where: [['name', '==', 'p0']] } as const;
    const installed = { 'ovn-installed': 'true' };
    await client.transact([{ ...row, mutations: [['external_ids', 'insert', installed]] }]);
    expect(await engine.verify(ours, call())).toEqual([]);
    const other = { ...port('p0'), interfaces: [{ name: 'p0', type: 'internal' }] } as Resource;
    await engine.change({ owner: 'p' }, { replace: [other] }, call());
    const text = JSON.stringify(at.picture());
    expect(text).toContain('ovn-installed');
    expect(text).not.toContain('id of p0');
  });
});

describe('the feed', () => {
  function watch({ backend, client }: ReturnType<typeof open>) {
    const index = new TouchIndex(createKindRegistry(backend.kinds));
    for (const each of all) index.put(each);
    const [feed] = backend.changes!;
    const changes = feed!.open();
    const read = async () => {
      await settle(client);
      const { hints } = changes.read();
      const leads = hints.map((hint) => index.find(hint, feed!.place));
      return {
        hints,
        owners: new Set(leads.flatMap(({ owners }) => [...owners])),
        hasLeftover: leads.some(({ leftover }) => leftover),
      };
    };
    return { read };
  }

  async function openWatched(at: FakeDatabase) {
    const opened = open(at);
    await applyAll(opened.engine);
    const { read } = watch(opened);
    return { ...opened, read };
  }

  test('leads from a row that was deleted by hand to its owner, and a reconcile repairs it', async () => {
    const at = createFakeSwitch();
    const { engine, read } = await openWatched(at);
    await removePort(connect(at), 'web1');
    const { owners, hasLeftover } = await read();
    expect(owners).toEqual(new Set(['network:1']));
    expect(hasLeftover).toBe(false);
    const changes = await engine.reconcile(all, call());
    expect(changes.map(({ action, what }) => `${action} ${what}`)).toEqual(['repaired port web1 of br0']);
  });

  test('leads from a part, from a port in another bridge, and from a mark that is gone', async () => {
    const at = createFakeSwitch();
    const { read } = await openWatched(at);
    const other = connect(at);
    const name = ['name', '==', 'web0'] as const;
    await other.transact([{ op: 'update', table: 'Interface', where: [name], row: { type: '' } }]);
    expect((await read()).owners).toEqual(new Set(['network:1']));
    await other.transact([{ op: 'update', table: 'Port', where: [name], row: { external_ids: {} } }]);
    expect((await read()).owners).toEqual(new Set(['network:1']));
    await other.transact([{ op: 'update', table: 'Bridge', where: [], row: { fail_mode: 'standalone' } }]);
    expect((await read()).owners).toEqual(new Set(['node']));
  });

  test('reports a leftover: a row with our mark that no owner wants', async () => {
    const at = createFakeSwitch();
    const { engine, read } = await openWatched(at);
    const external_ids = { podwire: 'Queue/left' };
    await connect(at).transact([{ op: 'insert', table: 'Queue', row: { external_ids } }]);
    const { owners, hasLeftover } = await read();
    expect(owners.size).toBe(0);
    expect(hasLeftover).toBe(true);
    const changes = await engine.reconcile(all, call());
    expect(changes).toEqual([{ action: 'removed', what: 'queue left' }]);
  });

  test('leaves out what this program does, and columns that it does not decide about', async () => {
    const at = createFakeSwitch();
    const { engine, read } = await openWatched(at);
    await engine.remove(owned, call());
    await engine.apply(owned, call());
    await connect(at).transact([{ op: 'update', table: 'Interface', where: [], row: { ofport: 7 } }]);
    expect((await read()).hints).toEqual([]);
  });

  test('reports that all is lost when the database was started anew and empty, and all comes back', async () => {
    const at = createFakeSwitch();
    const { client, engine, read } = await openWatched(at);
    const before = at.picture();
    at.server.erase();
    await settle(client).catch(() => 'the connection ended, and the next call waits for a new one');
    const { owners, hasLeftover } = await read();
    expect(owners).toEqual(new Set(['node', 'network:1']));
    expect(hasLeftover).toBe(true);
    const changes = await engine.reconcile(all, call());
    expect(new Set(changes.map(({ action }) => action))).toEqual(new Set(['repaired']));
    expect(at.picture()).toEqual(before);
    expect((await read()).hints).toEqual([]);
  });
});

/** Resolves when a port of this name is in the database, as nothing else tells while the server is silent. */
async function untilCommitted({ server }: FakeDatabase, name: string): Promise<void> {
  const select = { op: 'select', table: 'Port', where: [['name', '==', name]] };
  while (!JSON.stringify(server.transact(select)).includes(name)) await setImmediate();
}
