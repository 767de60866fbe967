/** The suite on the real ovsdb-server, with a standalone database and with a cluster of one. */
import { describe, test } from 'node:test';
import { OvsdbServer } from '@podwire/testkit/ovsdb';
import { complianceCases, runCase, type Target, testSchema } from './compliance/index.js';

async function openReal(model: 'standalone' | 'clustered'): Promise<Target> {
  const server = new OvsdbServer({ schema: testSchema, model });
  await server.start();
  return {
    client: { endpoints: [server.endpoint] },
    knowsTransactions: model === 'clustered',
    restart: async () => {
      await server.kill();
      await server.start();
    },
    erase: () => server.erase(),
    freeze: () => Promise.resolve(server.freeze()),
    close: () => server.close(),
  };
}

for (const model of ['standalone', 'clustered'] as const)
  describe(`ovsdb-server, ${model}`, () => {
    for (const each of complianceCases) test(each.name, () => runCase(each, () => openReal(model)));
  });
