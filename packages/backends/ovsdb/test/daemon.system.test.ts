/** ovs-vswitchd takes the rows as its configuration, and writes nothing into them that looks like drift. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createEngine, type Owned } from '@podwire/engine';
import { OvsdbClient } from '@podwire/ovsdb';
import { createSwitchBackend } from '../src/index.js';
import { bridge, owned, port } from './compliance-subject.js';
import { RealSwitch } from './real-switch.js';

const node: Owned = { owner: 'node', resources: [bridge] };
const all = [node, owned];
const call = () => ({ signal: AbortSignal.timeout(30_000) });

const connect = ({ client }: RealSwitch): OvsdbClient =>
  new OvsdbClient({ database: 'Open_vSwitch', ...client });

const openEngine = (server: RealSwitch) => createEngine({ backends: [createSwitchBackend(connect(server))] });

/** Follows the numbers of the interfaces in the switch, which a port keeps as long as it stays, and its configuration. */
async function follow(server: RealSwitch) {
  const client = connect(server);
  const cache = await client.monitor({
    Interface: { columns: ['name', 'ofport'] },
    Port: { columns: ['name', 'tag', 'interfaces', 'qos', 'external_ids'] },
    Bridge: { columns: ['name', 'ports', 'mirrors', 'external_ids'] },
  });
  const changes: string[] = [];
  cache.subscribe((event) => changes.push(...event.changes.map(({ type, table }) => `${type} ${table}`)));
  const numbers = () =>
    new Map([...cache.rows('Interface').values()].map(({ name, ofport }) => [name, ofport]));
  const isConnected = () => [...numbers().values()].every((number) => Number(number) > 0);
  const untilConnected = () => cache.until(() => numbers().size === 4 && isConnected());
  /** Since the last call. */
  const takeChanges = async () => {
    await client.transact([]);
    return changes.splice(0);
  };
  return { numbers, untilConnected, takeChanges, close: () => client.close() };
}

test('ovs-vswitchd connects all ports, a new process changes nothing, and other content keeps them', async () => {
  const server = await RealSwitch.start();
  const [first, second] = [openEngine(server), openEngine(server)];
  const { numbers, untilConnected, takeChanges, close } = await follow(server);
  try {
    await server.startDaemon();
    for (const each of all) await first.apply(each, call());
    await untilConnected();
    const before = numbers();
    assert.equal(before.get('br0'), 65_534);
    await first.close();
    await takeChanges();

    assert.deepEqual(await second.reconcile(all, call()), []);
    assert.deepEqual(await takeChanges(), []);
    const retagged = port('web0', { tag: 6, qos: 'gold' });
    await second.change({ owner: owned.owner }, { replace: [retagged] }, call());

    assert.deepEqual(await takeChanges(), ['modify Port']);

    await server.killDaemon();
    await server.startDaemon();
    await server.waitForDaemon(/added interface web0 on port/);
    await untilConnected();
    assert.deepEqual(await second.verify({ owner: owned.owner, resources: [retagged] }, call()), []);
    assert.deepEqual(numbers(), before);
    await second.remove(owned, call());
  } finally {
    for (const each of [first, second]) await each.close();
    await close();
    await server.close();
  }
});
