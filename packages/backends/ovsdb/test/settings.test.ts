/** Settings of the whole switch, beside those of other programs. */
import { createEngine, type Owned, type Resource } from '@podwire/engine';
import type { OvsdbClient } from '@podwire/ovsdb';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createSwitchBackend } from '../src/index.js';
import { findSetting, type Pairs, type Setting, withoutSetting, withSetting } from '../src/rows/settings.js';
import { connect } from './connect.js';
import { createFakeSwitch, type FakeDatabase } from './fake-database.js';
import { readPairs, setPair, writeInParallel } from './setting-writers.js';

const call = () => ({ signal: AbortSignal.timeout(20_000) });
const remote: Resource = { kind: 'ovs-setting', key: 'ovn-remote', value: 'unix:/run/ovn/sb.sock' };
const entry = (name: string, value: string): Resource => ({
  ...{ kind: 'ovs-setting-entry', key: 'ovn-bridge-mappings', name, value },
});
const bridge: Resource = { kind: 'ovs-bridge', name: 'br-net1' };
const node: Owned = { owner: 'node', resources: [entry('net1', 'br-net1'), remote, bridge] };

function open(at: FakeDatabase = createFakeSwitch()) {
  const backend = createSwitchBackend(connect(at));
  const engine = createEngine({ backends: [backend] });
  onTestFinished(() => engine.close());
  const other = connect(at);
  /** Without marks, as others see it. */
  const seen = async (): Promise<object> => {
    const pairs = [...(await readPairs(other))].filter(([key]) => !key.startsWith('podwire'));
    return Object.fromEntries(pairs);
  };
  return { at, backend, engine, other, seen };
}

/** Ends when the backend has seen it. */
async function byOthers(
  { other, engine }: ReturnType<typeof open>,
  write: (client: OvsdbClient) => Promise<unknown>,
): Promise<void> {
  await write(other);
  await engine.apply({ owner: 'passing', resources: [{ kind: 'ovs-queue', name: 'q' }] }, call());
  await engine.remove({ owner: 'passing', resources: [{ kind: 'ovs-queue', name: 'q' }] }, call());
}

test('settings come into an empty database, and go again', async () => {
  const { engine, seen } = open();
  await engine.apply(node, call());
  expect(await seen()).toEqual({
    'ovn-remote': 'unix:/run/ovn/sb.sock',
    'ovn-bridge-mappings': 'net1:br-net1',
  });
  expect(await engine.verify(node, call())).toEqual([]);
  expect(await engine.reconcile([node], call())).toEqual([]);
  await engine.remove(node, call());
  expect(await seen()).toEqual({});
});

test('a value of another program is taken over, and does not come back', async () => {
  const { engine, other, seen } = open();
  await engine.apply({ owner: 'bridge', resources: [bridge] }, call());
  await setPair(other, 'ovn-remote', 'tcp:192.0.2.9:6642');
  await setPair(other, 'system-id', 'n1');
  await engine.apply({ owner: 'node', resources: [remote] }, call());
  expect(await seen()).toEqual({ 'ovn-remote': 'unix:/run/ovn/sb.sock', 'system-id': 'n1' });
  await engine.remove({ owner: 'node', resources: [remote] }, call());
  expect(await seen()).toEqual({ 'system-id': 'n1' });
});

test('an entry comes into the list of others, and takes no other along when it goes', async () => {
  const opened = open();
  const { engine, other, seen } = opened;
  await engine.apply({ owner: 'bridge', resources: [bridge] }, call());
  await setPair(other, 'ovn-bridge-mappings', 'a:br-a,net1:br-old,b:br-b');
  const owned: Owned = { owner: 'node', resources: [entry('net1', 'br-net1')] };
  await engine.apply(owned, call());
  expect(await seen()).toEqual({ 'ovn-bridge-mappings': 'a:br-a,net1:br-net1,b:br-b' });
  await byOthers(opened, (client) => setPair(client, 'ovn-bridge-mappings', 'a:br-a,b:br-b'));
  // An absent entry: kube-ovn 1.8 takes the last one away then.
  await engine.remove(owned, call());
  expect(await seen()).toEqual({ 'ovn-bridge-mappings': 'a:br-a,b:br-b' });
});

test('what another program has set since stays when ours goes', async () => {
  const opened = open();
  await opened.engine.apply(node, call());
  await byOthers(opened, (client) => setPair(client, 'ovn-remote', 'tcp:192.0.2.9:6642'));
  await byOthers(opened, (client) => setPair(client, 'ovn-bridge-mappings', 'net1:br-theirs'));
  await opened.engine.remove(node, call());
  expect(await opened.seen()).toEqual({
    'ovn-remote': 'tcp:192.0.2.9:6642',
    'ovn-bridge-mappings': 'net1:br-theirs',
  });
});

test('a setting that another program has changed is hinted at, differs, and is repaired', async () => {
  const opened = open();
  const { engine, backend } = opened;
  await engine.apply(node, call());
  const changes = backend.changes![0]!.open();
  changes.read();
  await byOthers(opened, (client) => setPair(client, 'ovn-bridge-mappings', 'x:br-x'));
  const keys = changes.read().hints.flatMap((hint) => hint.keys);
  expect(keys).toEqual(['Open_vSwitch/external_ids/ovn-bridge-mappings']);
  expect(engine.kinds.of(node.resources[0]!).touches?.(node.resources[0]!)).toContain(keys[0]);
  expect(await engine.verify(node, call())).toMatchObject([
    { state: 'missing', detail: 'there is no setting ovn-bridge-mappings/net1' },
  ]);
  expect(await engine.reconcile([node], call())).toMatchObject([{ action: 'repaired' }]);
  expect(await opened.seen()).toMatchObject({ 'ovn-bridge-mappings': 'x:br-x,net1:br-net1' });
});

test('what this program writes itself is not hinted at', async () => {
  const { engine, backend } = open();
  const changes = backend.changes![0]!.open();
  await engine.apply({ owner: 'bridge', resources: [bridge] }, call());
  changes.read();
  await engine.apply(node, call());
  expect(changes.read().hints).toEqual([]);
});

test('a setting that no owner wants any more is pruned, and the others stay', async () => {
  const { engine, other, seen } = open();
  await engine.apply(node, call());
  await setPair(other, 'system-id', 'n1');
  const changes = await engine.reconcile([{ owner: 'node', resources: [remote] }], call());
  expect(changes.map(({ what }) => what).sort()).toEqual([
    'bridge br-net1',
    'setting ovn-bridge-mappings/net1',
  ]);
  expect(await seen()).toEqual({ 'ovn-remote': 'unix:/run/ovn/sb.sock', 'system-id': 'n1' });
});

test('an entry of the bridge mappings needs its bridge, and one of another list does not', () => {
  const { engine } = open();
  expect(engine.kinds.needsOf(entry('net1', 'br-net1'))).toEqual(['Open_vSwitch/Bridge/br-net1']);
  const mac = { ...entry('net1', '02:00:00:00:00:01'), key: 'ovn-chassis-mac-mappings' } as Resource;
  expect(engine.kinds.needsOf(mac)).toEqual([]);
});

test('writers of one list at one time lose nothing of each other', async () => {
  const names = ['a', 'b', 'c', 'd'];
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.constantFrom(...names), { minLength: 1 }),
      fc.uniqueArray(fc.constantFrom(...names.map((name) => `other-${name}`)), { minLength: 1 }),
      fc.uniqueArray(fc.constantFrom(...names)),
      async (ours, theirs, removed) => {
        const at = createFakeSwitch();
        const lists = await writeInParallel(() => connect(at), { ours, theirs, removed });
        expect(lists.found).toEqual(lists.wanted);
      },
    ),
    { numRuns: 10, examples: [[['a', 'b'], ['other-a'], []]] },
  );
});

describe('pairs', () => {
  const text = fc.stringMatching(/^[a-z]{1,2}$/);
  const settings: fc.Arbitrary<Setting> = fc.oneof(
    fc.record({ key: fc.constantFrom('k', 'l'), value: text }),
    fc.record({ key: fc.constantFrom('m', 'n'), name: fc.constantFrom('x', 'y'), value: text }),
  );
  const lists = fc
    .array(fc.constantFrom('x:1', 'y:2', 'z:3', 'z:aa:bb', 'bare', ''))
    .map((all) => all.join(','));
  const pairs: fc.Arbitrary<Pairs> = fc
    .dictionary(fc.constantFrom('k', 'l', 'm', 'n', 'o'), lists, { noNullPrototype: true })
    .map((all) => new Map(Object.entries(all)));
  const others = (all: Pairs, { key, name }: Setting): unknown =>
    [...all]
      .filter(([each]) => !each.startsWith('podwire/'))
      .flatMap(([each, value]) =>
        each === key && name !== undefined ? entriesBut(value, name) : [[each, value]],
      )
      .filter((one) => one[0] !== key || name !== undefined);
  const entriesBut = (list: string, name: string): readonly string[][] =>
    list
      .split(',')
      .filter((one) => one !== '' && one.split(':')[0] !== name)
      .map((one) => ['entry', one]);

  test('with a setting have it, marked, and everything else as before', () => {
    fc.assert(
      fc.property(pairs, settings, (before, setting) => {
        const after = withSetting(before, setting);
        expect(findSetting(after, setting)).toEqual({ value: setting.value, marked: setting.value });
        expect(others(after, setting)).toEqual(others(before, setting));
        expect(withSetting(after, setting)).toEqual(after);
      }),
    );
  });

  test('without a setting are as they were with everything else', () => {
    fc.assert(
      fc.property(pairs, settings, (before, setting) => {
        const after = withoutSetting(withSetting(before, setting), setting);
        expect(findSetting(after, setting)).toEqual({ value: undefined, marked: undefined });
        expect(others(after, setting)).toEqual(others(before, setting));
      }),
    );
  });

  test('keep a setting that is not ours', () => {
    fc.assert(
      fc.property(pairs, settings, (before, setting) => {
        expect(withoutSetting(before, setting)).toEqual(before);
      }),
    );
  });
});
