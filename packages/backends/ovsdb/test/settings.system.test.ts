/** Settings in a real ovsdb-server, beside those that ovs-vsctl writes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createEngine, type Engine, type Owned } from '@podwire/engine';
import { OvsdbClient } from '@podwire/ovsdb';
import { createSwitchBackend } from '../src/index.js';
import { bridge, mapping, setting } from './compliance-subject.js';
import { RealSwitch } from './real-switch.js';
import { writeInParallel } from './setting-writers.js';

const call = () => ({ signal: AbortSignal.timeout(30_000) });

const connect = ({ client }: RealSwitch): OvsdbClient =>
  new OvsdbClient({ database: 'Open_vSwitch', ...client });

async function withSwitch(work: (server: RealSwitch, engine: Engine) => Promise<void>): Promise<void> {
  const server = await RealSwitch.start();
  const engine = createEngine({ backends: [createSwitchBackend(connect(server))] });
  try {
    await work(server, engine);
  } finally {
    await engine.close();
    await server.close();
  }
}

const idOf = async (server: RealSwitch, key: string): Promise<string> =>
  (await server.vsctl('--if-exists', 'get', 'Open_vSwitch', '.', `external_ids:${key}`)).trim();

test('settings of ours and of ovs-vsctl live beside each other, and ours go without theirs', () =>
  withSwitch(async (server, engine) => {
    const owned: Owned = {
      owner: 'node',
      resources: [bridge, setting('unix:/run/sb.sock'), mapping('net1', 'br0')],
    };
    await server.vsctl('init');
    const theirs = ['external_ids:ovn-remote="tcp:192.0.2.9:6642"', 'external_ids:system-id=n1'];
    await server.vsctl('set', 'Open_vSwitch', '.', ...theirs, 'external_ids:ovn-bridge-mappings="a:br-a"');
    await engine.apply(owned, call());
    assert.equal(await idOf(server, 'ovn-remote'), '"unix:/run/sb.sock"');
    assert.equal(await idOf(server, 'ovn-bridge-mappings'), '"a:br-a,net1:br0"');
    assert.deepEqual(await engine.reconcile([owned], call()), []);
    await engine.remove(owned, call());
    assert.equal(await idOf(server, 'ovn-remote'), '');
    assert.equal(await idOf(server, 'ovn-bridge-mappings'), '"a:br-a"');
    assert.equal(await server.vsctl('get', 'Open_vSwitch', '.', 'external_ids'), expectedIds);
  }));

const expectedIds = '{ovn-bridge-mappings="a:br-a", system-id=n1}\n';

test('writers of one list at one time lose nothing of each other', () =>
  withSwitch(async (server, engine) => {
    await engine.apply({ owner: 'bridge', resources: [bridge] }, call());
    const writers = {
      ours: ['a', 'b', 'c', 'd', 'e', 'f'],
      theirs: ['other-a', 'other-b', 'other-c', 'other-d'],
      removed: ['a', 'b', 'c'],
    };
    const { found, wanted } = await writeInParallel(() => connect(server), writers);
    assert.deepEqual(found, wanted);
  }));
