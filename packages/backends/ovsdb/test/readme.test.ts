import fs from 'node:fs';
import path from 'node:path';
import { createEngine } from '@podwire/engine';
import { OvsdbClient } from '@podwire/ovsdb';
import { FakeServer } from '@podwire/ovsdb/fake';
import { expect, test } from 'vitest';
import { connect } from './connect.js';
import { keepNetwork } from './example.js';
import { createFakeNorthbound, createFakeSwitch } from './fake-database.js';
import { makeSubnet } from './northbound-example.js';
import { integer, pairs, rowsOf, text } from './schema-parts.js';
import { createGatewayBackend } from './table-example.js';

const examples = ['example.ts', 'northbound-example.ts', 'table-example.ts'];

test.each(examples)('the README shows %s, which is compiled and run here', (file) => {
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

test('the example of OVN makes a subnet with a pod, and waits for ovn-northd', async () => {
  const at = createFakeNorthbound();
  at.server.transact({ op: 'insert', table: 'NB_Global', row: {} });
  const asked = await connect(at).monitor({ NB_Global: { columns: ['nb_cfg'] } });
  asked.subscribe(() =>
    at.server.transact({ op: 'update', table: 'NB_Global', where: [], row: { sb_cfg: 1 } }),
  );
  const client = new OvsdbClient({ database: at.server.name, ...at.client });
  await makeSubnet(client, AbortSignal.timeout(10_000));
  const [{ rows }] = at.server.transact({
    op: 'select',
    table: 'Port_Group',
    where: [],
    columns: ['name', 'ports'],
  }) as readonly [{ readonly rows: readonly object[] }];
  expect(rows).toEqual([{ name: 'blue.n1', ports: ['uuid', expect.any(String)] }]);
});

const gatewaySchema = {
  name: 'OVN_Northbound',
  version: '7.0.0',
  tables: {
    Logical_Router_Port: {
      isRoot: true,
      columns: { name: text, gateway_chassis: rowsOf('Gateway_Chassis'), external_ids: pairs },
    },
    Gateway_Chassis: {
      indexes: [['name']],
      columns: { name: text, chassis_name: text, priority: integer, external_ids: pairs },
    },
  },
};

test('the example of another table makes and removes a row there', async () => {
  const server = new FakeServer({ schema: gatewaySchema });
  server.transact({ op: 'insert', table: 'Logical_Router_Port', row: { name: 'vpc-out' } });
  const client = new OvsdbClient({ database: server.name, endpoints: ['memory'], open: server.open });
  const engine = createEngine({ backends: [createGatewayBackend(client)] });
  const gateway = {
    kind: 'gateway-chassis',
    name: 'g1',
    port: 'vpc-out',
    chassis: 'n1',
    priority: 5,
  } as const;
  const call = { signal: AbortSignal.timeout(10_000) };
  const select = () =>
    server.transact({
      op: 'select',
      table: 'Gateway_Chassis',
      where: [],
      columns: ['chassis_name', 'priority'],
    });
  await engine.apply({ owner: 'gateway', resources: [gateway] }, call);
  expect(select()).toEqual([{ rows: [{ chassis_name: 'n1', priority: 5 }] }]);
  await engine.remove({ owner: 'gateway', resources: [gateway] }, call);
  expect(select()).toEqual([{ rows: [] }]);
  await engine.close();
});
