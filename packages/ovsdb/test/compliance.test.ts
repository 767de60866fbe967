import { FakeServer } from '@podwire/ovsdb/fake';
import { describe, test } from 'vitest';
import { complianceCases, runCase, type Target, testSchema } from './compliance/index.js';

function openFake(model: 'standalone' | 'clustered'): Promise<Target> {
  const server = new FakeServer({ schema: testSchema, model });
  return Promise.resolve({
    client: { endpoints: ['memory'], open: server.open },
    knowsTransactions: model === 'clustered',
    restart: () => {
      server.setSilent(false);
      server.stop();
      return Promise.resolve(server.start());
    },
    erase: () => Promise.resolve(server.erase()),
    freeze: () => Promise.resolve(server.setSilent(true)),
    close: () => Promise.resolve(server.stop()),
  });
}

describe.each(['standalone', 'clustered'] as const)('the in-memory server, %s', (model) => {
  for (const each of complianceCases) test(each.name, () => runCase(each, () => openFake(model)));
});
