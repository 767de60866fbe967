/** Flows of a port that ovn-controller puts in a moment after its row is written; here a fake plays it. */
import { createEngine, inApplyOrder, type Owned } from '@podwire/engine';
import { expect, onTestFinished, test } from 'vitest';
import { createSwitchBackend } from '../src/index.js';
import { connect } from './connect.js';
import { createFakeSwitch, type FakeDatabase } from './fake-database.js';

const call = () => ({ signal: AbortSignal.timeout(20_000) });
const TIMEOUT = 300;

const rows: Owned['resources'] = [
  { kind: 'ovs-bridge', name: 'br-int' },
  {
    ...{ kind: 'ovs-port', name: 'web_h', bridge: 'br-int' },
    interfaces: [{ name: 'web_h', externalIds: { 'iface-id': 'web.default' } }],
  },
];
const pod: Owned = {
  owner: 'endpoint:1',
  resources: [{ kind: 'ovs-port-installed', port: 'web_h', timeout: TIMEOUT }, ...rows],
};

function open(at: FakeDatabase) {
  const backend = createSwitchBackend(connect(at));
  const engine = createEngine({ backends: [backend] });
  onTestFinished(() => engine.close());
  return { backend, engine };
}

type Change = (client: ReturnType<typeof connect>) => Promise<unknown>;

/** Changes the interface as soon as its row is there. */
async function onInterface(at: FakeDatabase, change: Change): Promise<void> {
  const client = connect(at);
  const cache = await client.monitor({ Interface: { columns: ['name'] } });
  await cache.until((view) => [...view.rows('Interface').values()].some(({ name }) => name === 'web_h'));
  await change(client);
}

const where: readonly [[string, '==', string]] = [['name', '==', 'web_h']];

const put: Change = async (client) =>
  client.transact([
    {
      ...{ op: 'mutate', table: 'Interface', where },
      mutations: [['external_ids', 'insert', { 'ovn-installed': 'true', 'ovn-installed-ts': '1' }]],
    },
  ]);
const take: Change = async (client) =>
  client.transact([
    { op: 'mutate', table: 'Interface', where, mutations: [['external_ids', 'delete', ['ovn-installed']]] },
  ]);
const fail: Change = async (client) =>
  client.transact([{ op: 'update', table: 'Interface', where, row: { error: 'no such device' } }]);

const isThere = (at: FakeDatabase): boolean => JSON.stringify(at.picture()).includes('web_h');

test('the flows of a port are waited for after it is ready', async () => {
  const at = createFakeSwitch();
  const { engine } = open(at);
  const ready = { kind: 'ovs-port-ready', port: 'web_h', number: 3 } as const;
  const order = inApplyOrder(engine.kinds, [...pod.resources, ready]).map(({ kind }) => kind);
  expect(order).toEqual(['ovs-bridge', 'ovs-port', 'ovs-port-ready', 'ovs-port-installed']);
  await Promise.all([engine.apply(pod, call()), onInterface(at, put)]);
  expect(await engine.verify(pod, call())).toEqual([]);
  expect(await engine.reconcile([pod], call())).toEqual([]);
  await engine.remove(pod, call());
  expect(isThere(at)).toBe(false);
});

test('a port whose flows do not come is given up with its iface-id, and nothing of it stays', async () => {
  const at = createFakeSwitch();
  const { engine } = open(at);
  await expect(engine.apply(pod, call())).rejects.toMatchObject({
    code: 'PORT_NOT_INSTALLED',
    message: 'ovn-controller has not put in the flows of port web_h (iface-id web.default)',
  });
  expect(isThere(at)).toBe(false);
});

test('a port that no logical port belongs to is said to have no iface-id', async () => {
  const at = createFakeSwitch();
  const { engine } = open(at);
  const bare = { ...rows[1], interfaces: [{ name: 'web_h' }] } as Owned['resources'][0];
  const resources = [pod.resources[0]!, rows[0]!, bare];
  await expect(engine.apply({ owner: 'bare', resources }, call())).rejects.toThrow('which has no iface-id');
});

test('a port with an error is refused at once', async () => {
  const at = createFakeSwitch();
  const { engine } = open(at);
  const patient = { kind: 'ovs-port-installed', port: 'web_h', timeout: 600_000 } as const;
  const resources = [patient, ...rows];
  const applied = Promise.all([engine.apply({ owner: 'patient', resources }, call()), onInterface(at, fail)]);
  await expect(applied).rejects.toMatchObject({
    code: 'PORT_REFUSED',
    message: 'port web_h: no such device',
  });
});

test('flows that are taken out later are hinted at and reported, and are for OVN to repair', async () => {
  const at = createFakeSwitch();
  const { engine, backend } = open(at);
  await Promise.all([engine.apply(pod, call()), onInterface(at, put)]);
  const changes = backend.changes![0]!.open();
  changes.read();
  await onInterface(at, take);
  const [drift] = await engine.verify(pod, call());
  expect(drift).toMatchObject({ state: 'changed', foreign: 'PORT_NOT_INSTALLED' });
  expect(changes.read().hints.flatMap(({ keys }) => keys)).toContain('Open_vSwitch/Interface/web_h');
  const reported = await engine.reconcile([pod], call());
  expect(reported).toMatchObject([{ action: 'failed', error: { code: 'PORT_NOT_INSTALLED' } }]);
  expect(isThere(at)).toBe(true);
  await onInterface(at, put);
  expect(await engine.reconcile([pod], call())).toEqual([]);
});

test('what ovn-controller writes on a new port leads to no look', async () => {
  const at = createFakeSwitch();
  const { engine, backend } = open(at);
  await engine.apply({ owner: 'rows', resources: rows }, call());
  const changes = backend.changes![0]!.open();
  changes.read();
  await onInterface(at, put);
  await engine.verify({ owner: 'rows', resources: rows }, call());
  expect(changes.read().hints).toEqual([]);
});
