/**
 * Ports that are added to a bridge of a real ovsdb-server, one transaction each (interface, port, guard, reference), while a cache of
 * all interfaces follows: one after the other, and all at once. Then all of them are read anew by another client.
 *
 *   node packages/ovsdb/bench/ports.js [PORTS]
 */
import fs from 'node:fs';
import { OvsdbClient } from '@podwire/ovsdb';
import { OvsdbServer } from '@podwire/testkit/ovsdb';

const count = Number(process.argv[2] ?? 300);
const schema = JSON.parse(fs.readFileSync('/usr/share/openvswitch/vswitch.ovsschema', 'utf8'));
const server = new OvsdbServer({ schema, model: 'standalone' });
await server.start();
const options = { endpoints: [server.endpoint], database: 'Open_vSwitch' };
const client = new OvsdbClient(options);

const addPort = (name) =>
  client.transact([
    { op: 'wait', table: 'Port', where: [['name', '==', name]], columns: ['name'], until: '==', rows: [] },
    {
      op: 'insert',
      table: 'Interface',
      row: { name, external_ids: { 'iface-id': name } },
      uuidName: 'interface',
    },
    {
      op: 'insert',
      table: 'Port',
      row: { name, interfaces: [{ namedUuid: 'interface' }] },
      uuidName: 'port',
    },
    {
      op: 'mutate',
      table: 'Bridge',
      where: [['name', '==', 'br-int']],
      mutations: [['ports', 'insert', [{ namedUuid: 'port' }]]],
    },
  ]);

async function measure(title, work) {
  const begin = performance.now();
  await work();
  console.log(`${title}: ${Math.round(performance.now() - begin)} ms`);
}

try {
  await client.transact([
    { op: 'insert', table: 'Open_vSwitch', row: { bridges: [{ namedUuid: 'bridge' }] } },
    { op: 'insert', table: 'Bridge', row: { name: 'br-int' }, uuidName: 'bridge' },
  ]);
  const cache = await client.monitor({ Interface: {}, Port: {}, Bridge: {} });
  const names = (prefix) => Array.from({ length: count }, (_, index) => `${prefix}${index}`);
  await measure(`${count} ports, one after the other`, async () => {
    for (const name of names('a')) await addPort(name);
  });
  await measure(`${count} ports at once`, () => Promise.all(names('b').map(addPort)));
  if (cache.rows('Interface').size !== 2 * count) throw new Error('the cache does not have all interfaces');
  const other = new OvsdbClient(options);
  await measure(`${2 * count} ports read by a new client`, async () => {
    await other.monitor({ Interface: {}, Port: {}, Bridge: {} });
  });
  await other.close();
} finally {
  await client.close();
  await server.close();
}
