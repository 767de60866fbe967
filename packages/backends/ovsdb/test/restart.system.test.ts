/** A real ovsdb-server that is killed and comes back empty, and ovs-vsctl beside it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  createEngine,
  createKindRegistry,
  type Engine,
  type Hint,
  type Owned,
  TouchIndex,
} from '@podwire/engine';
import { OvsdbClient } from '@podwire/ovsdb';
import { createSwitchBackend } from '../src/index.js';
import { bridge, owned } from './compliance-subject.js';
import { RealSwitch } from './real-switch.js';

const node: Owned = { owner: 'node', resources: [bridge] };
const all = [node, owned];
const call = () => ({ signal: AbortSignal.timeout(30_000) });

interface Bench {
  readonly server: RealSwitch;
  readonly engine: Engine;
  /** Hints of all that was committed until now, and the owners that they lead to. */
  readonly read: () => Promise<{ readonly hints: readonly Hint[]; readonly owners: readonly string[] }>;
}

async function withSwitch(work: (bench: Bench) => Promise<void>): Promise<void> {
  const server = await RealSwitch.start();
  const client = new OvsdbClient({ database: 'Open_vSwitch', ...server.client });
  const backend = createSwitchBackend(client);
  const engine = createEngine({ backends: [backend] });
  const index = new TouchIndex(createKindRegistry(backend.kinds));
  try {
    for (const each of all) {
      await engine.apply(each, call());
      index.put(each);
    }
    const [feed] = backend.changes!;
    const changes = feed!.open();
    const read = async () => {
      await client.transact([]);
      const { hints } = changes.read();
      const owners = hints.flatMap((hint) => [...index.find(hint, feed!.place).owners]);
      return { hints, owners: [...new Set(owners)] };
    };
    await work({ server, engine, read });
  } finally {
    await engine.close();
    await server.close();
  }
}

const uuidOf = (server: RealSwitch, port: string): Promise<string> =>
  server.vsctl('get', 'Port', port, '_uuid');

test('after ovsdb-server was killed and started empty, all is hinted at and comes back', () =>
  withSwitch(async ({ server, engine, read }) => {
    const before = await server.picture();
    await server.restartEmpty();
    const { hints, owners } = await read();
    assert.deepEqual(hints, [{ keys: [], lost: true, marked: true }]);
    assert.deepEqual(owners, ['node', 'network:1']);
    const changes = await engine.reconcile(all, call());
    assert.deepEqual(new Set(changes.map(({ action }) => action)), new Set(['repaired']));
    assert.deepEqual(await server.picture(), before);
    assert.equal(await server.vsctl('list-ports', 'br0'), 'tap0\nweb0\nweb1\n');
  }));

test('what ovs-vsctl changes is hinted at and repaired; its own port and all other rows stay', () =>
  withSwitch(async ({ server, engine, read }) => {
    await server.vsctl('add-port', 'br0', 'foreign0', '--', 'set', 'Port', 'foreign0', 'tag=9');
    const uuids = async () => [await uuidOf(server, 'web0'), await uuidOf(server, 'foreign0')];
    const before = await uuids();
    await server.vsctl('del-port', 'web1');
    await server.vsctl('set', 'Port', 'tap0', 'tag=99');
    assert.deepEqual((await read()).owners, ['network:1']);
    const changes = await engine.reconcile(all, call());
    const words = changes.map(({ action, what }) => `${action} ${what}`);
    assert.deepEqual(words, ['repaired port tap0 of br0', 'repaired port web1 of br0']);
    assert.deepEqual((await read()).hints, []);
    assert.equal(await server.vsctl('get', 'Port', 'tap0', 'tag'), '[]\n');
    assert.deepEqual(await uuids(), before);
    assert.equal(await server.vsctl('list-ports', 'br0'), 'foreign0\ntap0\nweb0\nweb1\n');
  }));
