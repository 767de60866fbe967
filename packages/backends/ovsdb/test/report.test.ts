/** Ports that ovs-vswitchd makes a moment after their rows are written; here a fake plays it. */
import { createEngine, type Engine, inApplyOrder, type Owned } from '@podwire/engine';
import { noFaults } from '@podwire/platform';
import { expect, onTestFinished, test } from 'vitest';
import { createSwitchBackend } from '../src/index.js';
import { connect } from './connect.js';
import { createFakeSwitch, type FakeDatabase } from './fake-database.js';

const call = () => ({ signal: AbortSignal.timeout(20_000) });
const attached: Owned = {
  owner: 'endpoint:1',
  resources: [
    { kind: 'ovs-port-ready', port: 'web0', number: 3 },
    { kind: 'ovs-bridge', name: 'br0' },
    { kind: 'ovs-port', name: 'web0', bridge: 'br0', interfaces: [{ name: 'web0', ofportRequest: 3 }] },
  ],
};

function open(at: FakeDatabase, patience = 10_000) {
  const backend = createSwitchBackend(connect(at), { patience });
  const engine = createEngine({ backends: [backend] });
  onTestFinished(() => engine.close());
  return { backend, engine };
}

type Report = { readonly ofport: number; readonly error?: string | readonly [] };

/** Reports on the interface as soon as its row is there. */
async function reportOn(at: FakeDatabase, name: string, report: Report): Promise<void> {
  const client = connect(at);
  const rows = await client.monitor({ Interface: { columns: ['name'] } });
  await rows.until((cache) => [...cache.rows('Interface').values()].some((row) => row['name'] === name));
  await client.transact([
    { op: 'update', table: 'Interface', where: [['name', '==', name]], row: { ...report } },
  ]);
}

const portNames = (at: FakeDatabase): readonly string[] =>
  JSON.stringify(at.picture()).match(/web0/g) === null ? [] : ['web0'];

async function applyReported(engine: Engine, at: FakeDatabase, report: Report): Promise<void> {
  await Promise.all([engine.apply(attached, call()), reportOn(at, 'web0', report)]);
}

test('a port is waited for after its row, and is then as it should be', async () => {
  const at = createFakeSwitch();
  const { engine } = open(at);
  const order = inApplyOrder(engine.kinds, attached.resources).map(({ kind }) => kind);
  expect(order).toEqual(['ovs-bridge', 'ovs-port', 'ovs-port-ready']);
  await applyReported(engine, at, { ofport: 3 });
  expect(await engine.verify(attached, call())).toEqual([]);
  expect(await engine.reconcile([attached], call())).toEqual([]);
  await engine.remove(attached, call());
  expect(portNames(at)).toEqual([]);
});

test('a port that asks for no number has any', async () => {
  const at = createFakeSwitch();
  const { engine } = open(at);
  const resources = [
    { kind: 'ovs-bridge', name: 'br0' },
    { kind: 'ovs-port', name: 'web0', bridge: 'br0', interfaces: [{ name: 'web0' }] },
    { kind: 'ovs-port-ready', port: 'web0' },
  ] as const;
  const own: Owned = { owner: 'endpoint:1', resources };
  await Promise.all([engine.apply(own, call()), reportOn(at, 'web0', { ofport: 7 })]);
  expect(await engine.verify(own, call())).toEqual([]);
});

test('a port with another number is refused at once, and nothing of it stays', async () => {
  const at = createFakeSwitch();
  const { engine } = open(at);
  const message = 'the number of port web0 is 7, not 3';
  await expect(applyReported(engine, at, { ofport: 7 })).rejects.toMatchObject({
    code: 'PORT_REFUSED',
    message,
  });
  expect(portNames(at)).toEqual([]);
});

const withoutLink = { ofport: -1, error: 'could not open network device web0 (No such device)' };

test('a port whose link is missing is waited for', async () => {
  const at = createFakeSwitch();
  const { engine } = open(at);
  const apply = engine.apply(attached, call());
  await reportOn(at, 'web0', withoutLink);
  await reportOn(at, 'web0', { ofport: 3, error: [] });
  await apply;
  expect(await engine.verify(attached, call())).toEqual([]);
});

test.each([
  ['whose link does not come', withoutLink, 'PORT_REFUSED', `port web0: ${withoutLink.error}`],
  ['that ovs-vswitchd does not make', undefined, 'BACKEND_SILENT', 'ovs-vswitchd has not made port web0'],
])('a port %s is given up, and nothing of it stays', async (_, report, code, message) => {
  const at = createFakeSwitch();
  const { engine } = open(at, 200);
  const apply = engine.apply(attached, call());
  const reported = report === undefined ? undefined : reportOn(at, 'web0', report);
  await expect(Promise.all([apply, reported])).rejects.toMatchObject({ code, message });
  expect(portNames(at)).toEqual([]);
});

test('a port that gets another number later is hinted at, differs, and is not called repaired', async () => {
  const at = createFakeSwitch();
  const { engine, backend } = open(at);
  await applyReported(engine, at, { ofport: 3 });
  const changes = backend.changes![0]!.open();
  changes.read();
  await reportOn(at, 'web0', { ofport: 7 });
  expect(await engine.verify(attached, call())).toMatchObject([
    { state: 'changed', detail: 'the number of port web0 is 7, not 3' },
  ]);
  expect(changes.read().hints.flatMap(({ keys }) => keys)).toContain('Open_vSwitch/Interface/web0');
  const [change] = await engine.reconcile([attached], call());
  expect(change).toMatchObject({ action: 'failed', error: { code: 'PORT_REFUSED' } });
});

test('a port of the type internal is the link that others come after', () => {
  const { engine } = open(createFakeSwitch());
  const key = engine.kinds.keyOf({ kind: 'ovs-port-ready', port: 'tun0', number: 2, isLink: true });
  expect(key).toBe('link host/tun0');
});

/** Plays ovs-vswitchd, which has seen everything up to this number. */
async function noteProgress(at: FakeDatabase, seen: number): Promise<void> {
  const client = connect(at);
  const cache = await client.monitor({ Open_vSwitch: { columns: ['next_cfg'] } });
  await cache.until((rows) =>
    [...rows.rows('Open_vSwitch').values()].some((row) => row['next_cfg'] === seen),
  );
  await client.transact([{ op: 'update', table: 'Open_vSwitch', where: [], row: { cur_cfg: seen } }]);
}

const web0 = attached.resources.filter(({ kind }) => kind === 'ovs-port');
const openSession = ({ backend }: ReturnType<typeof open>) =>
  backend.open(attached, { faults: noFaults, defer: () => 0 });

test('a port that is renewed with its link has gone when ovs-vswitchd has seen that', async () => {
  const at = createFakeSwitch();
  const opened = open(at);
  await applyReported(opened.engine, at, { ofport: 3 });
  const cleared = openSession(opened).clear!(web0, call());
  await noteProgress(at, 1);
  expect(await cleared).toEqual([]);
  expect(portNames(at)).toEqual([]);
});

test('a port that ovs-vswitchd does not let go of is a failure', async () => {
  const at = createFakeSwitch();
  const opened = open(at, 100);
  await applyReported(opened.engine, at, { ofport: 3 });
  expect(await openSession(opened).clear!(web0, call())).toMatchObject([
    { error: { code: 'BACKEND_SILENT' } },
  ]);
});

test('a port needs the links of the node in it, and is renewed with them', () => {
  const { engine } = open(createFakeSwitch());
  const interfaces = [{ name: 'one' }, { name: 'two' }, { name: 'tun0', type: 'internal' }];
  const bond = { kind: 'ovs-port', name: 'bond0', bridge: 'br0', interfaces } as const;
  const links = ['link host/one', 'link host/two'];
  expect(engine.kinds.needsOf(bond)).toEqual(['Open_vSwitch/Bridge/br0', ...links]);
  expect(engine.kinds.of(bond).renewedWith?.(bond)).toEqual(links);
});
