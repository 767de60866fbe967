import fs from 'node:fs';
import { OvsdbClient, OvsdbError } from '@podwire/ovsdb';
import { FakeServer } from '@podwire/ovsdb/fake';
import type { OpenVSwitchDatabase } from './switch.js';

/** Says what a client learns about a transaction whose answer is lost. */
export async function loseAnswer(schemaFile: string): Promise<readonly string[]> {
  const server = new FakeServer({ schema: JSON.parse(fs.readFileSync(schemaFile, 'utf8')) });
  const client = new OvsdbClient<OpenVSwitchDatabase>({
    endpoints: ['memory'],
    database: server.name,
    open: server.open,
  });
  await client.transact([{ op: 'insert', table: 'Open_vSwitch', row: {} }]);

  server.setSilent(true);
  const call = client.transact([
    { op: 'mutate', table: 'Open_vSwitch', where: [], mutations: [['next_cfg', '+=', 1]] },
    { op: 'comment', comment: 'its answer is lost' },
  ]);
  const outcome = call.then(
    () => 'done',
    (error: unknown) => (error instanceof OvsdbError ? error.code : String(error)),
  );
  setImmediate(() => server.cut());
  const code = await outcome;

  server.setSilent(false);
  const [{ rows }] = await client.transact([
    { op: 'select', table: 'Open_vSwitch', where: [], columns: ['next_cfg'] },
  ]);
  await client.close();
  return [code, ...rows.map(({ next_cfg }) => `next_cfg is ${next_cfg}`)];
}
