import fs from 'node:fs';
import path from 'node:path';
import { createEngine } from '@podwire/engine';
import { OvsdbClient } from '@podwire/ovsdb';
import { FakeServer } from '@podwire/ovsdb/fake';
import { expect, test } from 'vitest';
import { keepNetwork } from './example.js';
import { createFakeSwitch } from './fake-switch.js';
import { createNorthboundBackend, type LogicalPort } from './ovn-example.js';

test.each(['example.ts', 'ovn-example.ts'])('the README shows %s, which is compiled and run here', (file) => {
  const readme = fs.readFileSync(path.join(import.meta.dirname, '../README.md'), 'utf8');
  const example = fs.readFileSync(path.join(import.meta.dirname, file), 'utf8');
  expect(readme).toContain(`\`\`\`ts\n${example}\`\`\``);
});

test('the example does what it says', async () => {
  const at = createFakeSwitch();
  const client = new OvsdbClient({ database: 'Open_vSwitch', ...at.client });
  const row = { tag: 6 };
  const damage = () =>
    client.transact([{ op: 'update', table: 'Port', where: [['name', '==', 'web0']], row }]);
  expect(await keepNetwork(client, damage)).toEqual(['repaired port web0 of br-web']);
  expect(JSON.stringify(at.picture())).not.toContain('web');
});

const pairs = { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } };
const many = (key: unknown) => ({ type: { key, min: 0, max: 'unlimited' } });
const northbound = {
  name: 'OVN_Northbound',
  version: '7.3.0',
  tables: {
    Logical_Switch: {
      isRoot: true,
      columns: {
        name: { type: 'string' },
        ports: many({ type: 'uuid', refTable: 'Logical_Switch_Port' }),
        external_ids: pairs,
      },
    },
    Logical_Switch_Port: {
      indexes: [['name']],
      columns: { name: { type: 'string' }, addresses: many('string'), external_ids: pairs },
    },
  },
};

test('the example of another database makes and removes a row there', async () => {
  const server = new FakeServer({ schema: northbound });
  server.transact({ op: 'insert', table: 'Logical_Switch', row: { name: 'sw0' } });
  const client = new OvsdbClient({ database: server.name, endpoints: ['memory'], open: server.open });
  const engine = createEngine({ backends: [createNorthboundBackend(client)] });
  const port: LogicalPort = { kind: 'logical-port', name: 'p0', switch: 'sw0', addresses: ['dynamic'] };
  const call = { signal: AbortSignal.timeout(10_000) };
  const select = () =>
    server.transact({ op: 'select', table: 'Logical_Switch_Port', where: [], columns: ['addresses'] });
  await engine.apply({ owner: 'pod', resources: [port] }, call);
  expect(select()).toEqual([{ rows: [{ addresses: 'dynamic' }] }]);
  await engine.remove({ owner: 'pod', resources: [port] }, call);
  expect(select()).toEqual([{ rows: [] }]);
  await engine.close();
});
