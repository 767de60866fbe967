/** Beyond the compliance suite: bundles, bridges that are silent or gone, flows of others, hints and restarts. */
import { setImmediate } from 'node:timers/promises';
import { createKindRegistry, type Engine, type Owned, type Resource, TouchIndex } from '@podwire/engine';
import {
  addFlow,
  addGroup,
  deleteFlow,
  OpenFlowError,
  type OpenOptions,
  type SwitchConnection,
  SwitchError,
} from '@podwire/openflow';
import type { FakeSwitch } from '@podwire/openflow/fake';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { flow, group, meter, node, owned, route } from './compliance-subject.js';
import { connectTo, createFakeBridge } from './fake-bridge.js';
import { call, closeOpened, connect, open, picture } from './opened.js';

afterEach(closeOpened);

const all = [node, owned];

async function applyAll(engine: Engine): Promise<void> {
  for (const each of all) await engine.apply(each, call());
}

const failedOf = (changes: Awaited<ReturnType<Engine['reconcile']>>): readonly string[] =>
  changes.filter(({ action }) => action === 'failed').map(({ what }) => what);

describe('bundles', () => {
  test('are one for each list that comes, changes or goes, and none where nothing differs', async () => {
    const { engine, sent } = open(createFakeBridge());
    await applyAll(engine);
    expect(sent.splice(0)).toEqual(['bundle of 1', '1 requests', 'bundle of 6']);
    await engine.verify(owned, call());
    await engine.reconcile(all, call());
    expect(sent).toEqual([]);
    const change = {
      remove: [route('10.1.0.9', 4), group(7, 2, 3)],
      add: [route('10.1.0.9', 5), group(7, 4), route('10.7.0.0/16', 1)],
    };
    await engine.change({ owner: owned.owner }, change, call());
    expect(sent.splice(0)).toEqual(['bundle of 3']);
    await engine.remove(owned, call());
    expect(sent).toEqual(['bundle of 6', '1 requests']);
  });

  test('of a new process are none: it takes over what is there', async () => {
    const at = createFakeBridge();
    await applyAll(open(at).engine);
    const before = await picture(at);
    const { engine, sent } = open(at);
    expect(await engine.reconcile(all, call())).toEqual([]);
    expect(sent).toEqual([]);
    expect(await picture(at)).toEqual(before);
  });

  test('of a repair are one, and leave out what the switch refuses', async () => {
    const at = createFakeBridge();
    const { engine, sent } = open(at);
    await engine.apply(node, call());
    sent.splice(0);
    const good = [route('10.1.0.1', 1), route('10.1.0.2', 2)];
    const incomplete = flow({ table: 32, match: { tcp_dst: 80 } });
    const bad = [route('10.1.0.3', 0xff05), incomplete];
    const wanted: Owned = { owner: 'mixed', resources: [good[0]!, ...bad, good[1]!] };
    const changes = await engine.reconcile([node, wanted], call());
    expect(failedOf(changes)).toEqual([
      'flow table=31,priority=100,ip,ip_dst=10.1.0.3 on br0',
      'flow table=32,priority=100,tcp_dst=80 on br0',
    ]);
    expect(sent).toEqual(['bundle of 3', 'bundle of 2']);
    expect(await engine.verify({ owner: 'mixed', resources: good }, call())).toEqual([]);
    const unwritable = flow({ table: 32, match: { in_port: 'p1' } });
    await engine.remove({ owner: 'mixed', resources: [...wanted.resources, unwritable] }, call());
    expect(at.flows()).toHaveLength(1);
  });

  test('that are refused take the meters back that came and changed with them', async () => {
    const at = createFakeBridge();
    const { engine } = open(at);
    await applyAll(engine);
    const before = await picture(at);
    const change = {
      replace: [meter(1, 7_000), flow({ table: 61, match: { reg0: 1 }, meter: 0x7002, actions: [] })],
      add: [meter(2, 1), route('10.1.0.3', 0xff05)],
    };
    await expect(engine.change({ owner: owned.owner }, change, call())).rejects.toThrow('BAD_OUT_PORT');
    expect(await picture(at)).toEqual(before);
  });

  test('move a flow away from its meter and group before these go, without a gap', async () => {
    const at = createFakeBridge();
    const { engine } = open(at);
    await applyAll(engine);
    const events = await (await connect(at)).watch(['flow_change']);
    const [toGroup, metered] = [60, 61].map((table) =>
      flow({ table, match: { reg0: table === 60 ? 7 : 1 } }),
    );
    const change = { replace: [toGroup!, metered!], remove: [group(7, 2, 3), meter(1, 1_000)] };
    await engine.change({ owner: owned.owner }, change, call());
    expect((await picture(at)).meters).toEqual([]);
    const seen: unknown[] = [];
    for await (const event of events) if (seen.push('change' in event && event.change) === 2) break;
    expect(seen).toEqual(['add', 'add']);
    expect(at.flows()).toHaveLength(6);
  });

  test('whose answer is lost are not sent again', async () => {
    const at = createFakeBridge();
    const { engine, connections, sent } = open(at);
    await engine.apply(node, call());
    const connection = connections[0]!;
    const apply = connection.applyBundle.bind(connection);
    connection.applyBundle = async (changes, more) => {
      await apply(changes, more);
      connection.close();
      throw new OpenFlowError('ECONNRESET', 'the switch closed the connection');
    };
    const list: Owned = { owner: 'list', resources: [route('10.1.0.1', 1)] };
    await engine.apply(list, call());
    expect(sent).toEqual(['bundle of 1', 'bundle of 1']);
    expect(connections).toHaveLength(2);
    expect(await engine.verify(list, call())).toEqual([]);
  });

  test('are not sent for a caller that has given up', async () => {
    const { backend, sent } = open(createFakeBridge());
    const session = backend.open(node, undefined as never);
    const batch = { backend: 'openflow', name: 'flows', place: 'bridge br0', resources: node.resources };
    const reason = new Error('given up');
    await expect(session.create(batch, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(sent).toEqual([]);
  });
});

describe('a bridge', () => {
  const other = (resource: Resource): Resource => ({ ...resource, bridge: 'br1' }) as Resource;
  const there: Owned = { owner: 'there', resources: [other(route('10.1.0.1', 1))] };

  /** A switch with `br0`, and with `br1` as it is told. */
  function openTwo(at: FakeSwitch, openOther: () => Promise<SwitchConnection>) {
    const options = {
      ...{ bridges: ['br0', 'br1'], timeout: 20, clock: { sleep: () => Promise.resolve() } },
      open: (bridge: string, given: OpenOptions) => (bridge === 'br0' ? connectTo(at, given) : openOther()),
    };
    return open(at, options);
  }

  const noBridge = (): Promise<never> =>
    Promise.reject(Object.assign(new Error('connect ENOENT br1.mgmt'), { code: 'ENOENT' }));

  test('that does not answer costs the owners of flows on it, and no others', async () => {
    const at = createFakeBridge();
    const { engine } = openTwo(at, () => new Promise(() => undefined));
    const leftover: Owned = { owner: 'old', resources: [route('10.5.0.1', 1)] };
    await engine.apply(leftover, call());
    const changes = await engine.reconcile([node, there, owned], call());
    const failed = changes.filter(({ action }) => action === 'failed');
    expect(failed.map(({ owner, what }) => [owner, what])).toEqual([
      ['there', 'all 1 resources in openflow'],
      [undefined, 'leftovers on bridge br1'],
    ]);
    const message = 'bridge br1 cannot be used: no answer in 20 ms';
    for (const { error } of failed) expect(error).toMatchObject({ code: 'BACKEND_SILENT', message });
    expect(changes.filter(({ action }) => action === 'removed')).toHaveLength(1);
    expect(await engine.verify(owned, call())).toEqual([]);
    await expect(engine.verify(there, call())).rejects.toMatchObject({ code: 'BACKEND_SILENT' });
    await expect(engine.apply(there, call())).rejects.toMatchObject({ code: 'BACKEND_SILENT' });
    const both = { ...owned, resources: [...owned.resources, ...there.resources] };
    await expect(engine.remove(both, call())).rejects.toMatchObject({ code: 'REMOVE_INCOMPLETE' });
    expect(at.flows()).toHaveLength(1);
  });

  test('that is not there has nothing to remove, and what is to be on it is missing', async () => {
    const { engine } = openTwo(createFakeBridge(), noBridge);
    await engine.remove(there, call());
    const [drift] = await engine.verify(there, call());
    expect(drift?.state).toBe('missing');
    expect(drift?.detail).toContain('ENOENT');
    const [change] = await engine.reconcile([there], call());
    expect(change).toMatchObject({ action: 'failed', error: { code: 'BACKEND_SILENT' } });
  });

  test('that comes a moment later than its flows is waited for', async () => {
    const [at, second] = [createFakeBridge(), createFakeBridge()];
    let attempts = 0;
    const { engine } = openTwo(at, () => (++attempts < 4 ? noBridge() : connectTo(second)));
    await engine.apply(there, call());
    expect(second.flows()).toHaveLength(1);
  });

  test('that never comes is waited for until the deadline', async () => {
    const { engine } = openTwo(createFakeBridge(), async () => {
      await setImmediate();
      return noBridge();
    });
    const refused = engine.apply(there, call());
    await expect(refused).rejects.toMatchObject({ code: 'BACKEND_SILENT' });
    await expect(refused).rejects.toThrow('ENOENT');
  });
});

describe('flows of others', () => {
  const foreign = { table: 31, priority: 100, match: { eth_type: 0x0800, ip_dst: '10.1.0.9' } };

  test('in the place of ours are a conflict, and stay', async () => {
    const at = createFakeBridge();
    const { engine } = open(at);
    await engine.apply(node, call());
    await (await connect(at)).send([addFlow({ ...foreign, cookie: '0x7' })]);
    const before = await picture(at);
    await expect(engine.apply(owned, call())).rejects.toMatchObject({ code: 'FLOW_TAKEN' });
    expect(await picture(at)).toEqual(before);
    const [drift] = await engine.verify({ ...owned, resources: [route('10.1.0.9', 4)] }, call());
    expect(drift?.foreign).toBe('FLOW_TAKEN');
    const changes = await engine.reconcile(all, call());
    expect(failedOf(changes)).toEqual(['flow table=31,priority=100,ip,ip_dst=10.1.0.9 on br0']);
    await engine.remove(owned, call());
    expect(await picture(at)).toEqual(before);
  });

  test('that took the place of ours since are not removed in its stead', async () => {
    const at = createFakeBridge();
    const { engine } = open(at);
    await applyAll(engine);
    await (await connect(at)).send([addFlow(foreign)]);
    await engine.remove(owned, call());
    expect(at.flows().map(({ cookie }) => cookie)).toEqual(['0x706f647700000000', undefined]);
  });

  test('that send to a group of ours keep it from being removed', async () => {
    const at = createFakeBridge();
    const { engine } = open(at);
    await applyAll(engine);
    const connection = await connect(at);
    const user = { table: 5, priority: 1, match: {}, actions: [{ type: 'group', group: 7 }] } as const;
    await connection.send([addFlow(user)]);
    const words = 'flow table=5,priority=1 on br0, which is not ours, sends to group 7 on br0';
    await expect(engine.remove(owned, call())).rejects.toThrow(words);
    expect(at.flows()).toHaveLength(2);
    await connection.send([deleteFlow(user)]);
    await engine.remove(owned, call());
    expect(at.groups()).toEqual([]);
  });

  test('and groups with the number of ours are a conflict', async () => {
    const at = createFakeBridge();
    const { engine } = open(at);
    await engine.apply(node, call());
    await (await connect(at)).send([addGroup({ id: 7, type: 'all', buckets: [] })]);
    const before = await picture(at);
    await expect(engine.apply(owned, call())).rejects.toMatchObject({ code: 'FLOW_TAKEN' });
    await engine.remove(owned, call());
    expect(await picture(at)).toEqual(before);
  });
});

describe('the feed', () => {
  async function openWatched(at: FakeSwitch) {
    const opened = open(at);
    await applyAll(opened.engine);
    const index = new TouchIndex(createKindRegistry(opened.backend.kinds));
    for (const each of all) index.put(each);
    const [feed] = opened.backend.changes!;
    const changes = feed!.open();
    const read = async () => {
      // Reports come before the answer to a later request, where there is a connection.
      await opened.connections
        .at(-1)!
        .barrier()
        .catch(() => undefined);
      await setImmediate();
      const { hints } = changes.read();
      const leads = hints.map((hint) => index.find(hint, feed!.place));
      const owners = new Set(leads.flatMap((lead) => [...lead.owners]));
      return { hints, owners, hasLeftover: leads.some(({ leftover }) => leftover) };
    };
    return { ...opened, read };
  }

  test('leads from a flow that was deleted or changed by hand to its owner', async () => {
    const at = createFakeBridge();
    const { engine, read } = await openWatched(at);
    const connection = await connect(at);
    const match = { eth_type: 0x0800, ip_dst: '10.1.0.9' };
    await connection.send([deleteFlow({ table: 31, priority: 100, match })]);
    expect(await read()).toMatchObject({ owners: new Set(['network:1']), hasLeftover: false });
    const changes = await engine.reconcile(all, call());
    expect(changes.map(({ action, what }) => `${action} ${what}`)).toEqual([
      'repaired flow table=31,priority=100,ip,ip_dst=10.1.0.9 on br0',
    ]);
    await connection.send([
      { type: 'flow_mod', command: 'modify_strict', flow: { table: 0, priority: 0, match: {} } },
    ]);
    expect((await read()).owners).toEqual(new Set(['node']));
  });

  test('reports a leftover: a flow with our mark that no owner wants', async () => {
    const at = createFakeBridge();
    const { engine, read } = await openWatched(at);
    await (
      await connect(at)
    ).send([addFlow({ table: 9, cookie: '0x706f647700000001' }), addFlow({ table: 8 })]);
    expect(await read()).toMatchObject({ owners: new Set(), hasLeftover: true });
    const changes = await engine.reconcile(all, call());
    expect(changes).toEqual([{ action: 'removed', what: 'flow table=9,priority=32768 on br0' }]);
  });

  test('leaves out what this program does', async () => {
    const { engine, read } = await openWatched(createFakeBridge());
    await engine.remove(owned, call());
    await engine.apply(owned, call());
    expect((await read()).hints).toEqual([]);
  });

  test('reports that all is lost when the switch was started anew, and all comes back', async () => {
    const at = createFakeBridge();
    const { engine, read, connections } = await openWatched(at);
    const before = await picture(at);
    at.restart();
    await connections[0]!.closed;
    const { owners, hasLeftover } = await read();
    expect(owners).toEqual(new Set(['node', 'network:1']));
    expect(hasLeftover).toBe(true);
    await vi.waitFor(() => expect(connections).toHaveLength(2));
    await vi.waitFor(async () =>
      expect((await read()).hints).toEqual([{ keys: [], lost: true, marked: true }]),
    );
    const changes = await engine.reconcile(all, call());
    expect(new Set(changes.map(({ action }) => action))).toEqual(new Set(['repaired']));
    expect(await picture(at)).toEqual(before);
  });

  test('has nothing but lost connections where the switch reports no changes', async () => {
    const at = createFakeBridge();
    const refusal = { index: 1, type: 1, code: 2, name: 'OFPBRC_BAD_MULTIPART' } as const;
    const { engine, backend } = open(at, {
      open: async (_, given) => {
        const connection = await connectTo(at, given);
        connection.watch = () => Promise.reject(new SwitchError('choose events', [refusal]));
        return connection;
      },
    });
    const changes = backend.changes![0]!.open();
    await applyAll(engine);
    expect(changes.read().hints).toEqual([{ keys: [], lost: true, marked: true }]);
    await (await connect(at)).send([deleteFlow({ table: 0, priority: 0 })]);
    expect(changes.read().hints).toEqual([]);
    at.restart();
    await vi.waitFor(() => expect(changes.read().hints).toHaveLength(1));
  });

  test('keeps no more hints than it must', async () => {
    const at = createFakeBridge();
    const { read } = await openWatched(at);
    const flows = [...Array(1_025).keys()].map((reg0) => addFlow({ table: 7, match: { reg0 } }));
    await (await connect(at)).applyBundle(flows);
    expect((await read()).hints).toEqual([{ keys: [], lost: true, marked: true }]);
    expect((await read()).hints).toEqual([]);
  });
});
