/** Bundles that are with the switch before it is known if they may be made. */
import { setImmediate } from 'node:timers/promises';
import type { Owned, Resource } from '@podwire/engine';
import { afterEach, describe, expect, test } from 'vitest';
import { node, owned, route } from './compliance-subject.js';
import { createFakeBridge } from './fake-bridge.js';
import { call, closeOpened, connect, open } from './opened.js';

afterEach(closeOpened);

describe('bundles', () => {
  test('are with the switch while it is asked for flows in the way', async () => {
    const at = createFakeBridge();
    const { engine, connections, sent } = open(at);
    await engine.apply(node, call());
    const [connection] = connections;
    const dump = connection!.dump.bind(connection);
    connection!.dump = async (...request) => {
      sent.push('dump');
      return dump(...request);
    };
    sent.splice(0);
    const list: Owned = { owner: 'list', resources: [route('10.1.0.1', 1), route('10.1.0.2', 2)] };
    await engine.apply(list, call());
    expect(sent.splice(0)).toEqual(['bundle of 2', 'dump']);
    await engine.remove(list, call());
    expect(sent).toEqual(['bundle of 2']);
  });

  test('wait on the switch where a list comes next, and are discarded where it does not come', async () => {
    const at = createFakeBridge();
    const { backend, engine, sent } = open(at);
    await engine.apply(node, call());
    const before = at.flows().length;
    const batchOf = (...resources: Resource[]) => ({
      ...{ backend: 'openflow', name: 'flows', place: 'bridge br0', resources },
    });
    const session = backend.open(owned, undefined as never);
    const batch = batchOf(route('10.1.0.1', 1), route('10.1.0.2', 2));
    sent.splice(0);
    session.prepare!(batch, call());
    await (await connect(at)).barrier();
    await setImmediate();
    expect([sent.splice(0), at.flows().length]).toEqual([['bundle of 2'], before]);
    expect(await session.create(batch, call())).toEqual([]);
    expect([sent, at.flows().length]).toEqual([[], before + 2]);
    session.close();

    const next = backend.open(owned, undefined as never);
    next.prepare!(batchOf(route('10.1.0.3', 3)), call());
    next.prepare!(batch, call());
    const [failure] = await next.create(batch, call());
    expect(failure!.error).toMatchObject({ code: 'FLOW_EXISTS' });
    next.prepare!(batchOf(route('10.1.0.4', 4)), call());
    next.close();
    await engine.apply({ owner: 'last', resources: [route('10.1.0.5', 5)] }, call());
    expect(at.flows().length).toBe(before + 3);
  });

  test('that wait on a switch which ends are sent again, and wait again', async () => {
    const at = createFakeBridge();
    const { backend, engine, connections } = open(at);
    await engine.apply(node, call());
    const before = at.flows().length;
    const batch = {
      ...{ backend: 'openflow', name: 'flows', place: 'bridge br0', resources: [route('10.1.0.1', 1)] },
    };
    const session = backend.open(owned, undefined as never);
    session.prepare!(batch, call());
    await setImmediate();
    at.restart();
    await expect.poll(() => connections.length).toBe(2);
    await connections[1]!.barrier();
    const left = at.flows().length;
    expect(left).toBeLessThanOrEqual(before);
    expect(await session.create(batch, call())).toEqual([]);
    expect(at.flows().length).toBe(left + 1);
    session.close();
  });

  test('of flows that go have left before anything else is removed, and are waited for at the end', async () => {
    const at = createFakeBridge();
    const { backend, engine, connections } = open(at);
    const batch = {
      ...{ backend: 'openflow', name: 'flows', place: 'bridge br0', resources: [route('10.1.0.1', 1)] },
    };
    await engine.apply(node, call());
    const session = backend.open(owned, undefined as never);
    expect(await session.create(batch, call())).toEqual([]);
    const before = at.flows().length;
    const [connection] = connections;
    const applyBundle = connection!.applyBundle.bind(connection);
    let answer = (): void => undefined;
    const answered = new Promise<void>((resolve) => (answer = resolve));
    connection!.applyBundle = async (changes, options) => {
      await applyBundle(changes, options);
      await answered;
    };
    const { done } = await session.startRemoval!(batch, call());
    let isDone = false;
    void done.then(() => (isDone = true));
    await connection!.barrier();
    expect([at.flows().length, isDone]).toEqual([before - 1, false]);
    answer();
    expect(await done).toEqual([]);
    session.close();
  });
});
