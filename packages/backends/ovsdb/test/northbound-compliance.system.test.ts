import { test } from 'node:test';
import { complianceCases } from '@podwire/engine/compliance';
import { readOvnSchema } from '@podwire/testkit/ovn';
import { OvsdbServer } from '@podwire/testkit/ovsdb';
import { dumpRows } from './dump-rows.js';
import { createNorthboundSubject } from './northbound-subject.js';

for (const { name, run } of complianceCases)
  test(`on ovsdb-server with the northbound schema of OVN: ${name}`, async () => {
    const server = new OvsdbServer({ schema: readOvnSchema('nb'), model: 'standalone' });
    await server.start();
    const client = { endpoints: [server.endpoint], backoff: { first: 5, longest: 50 } };
    const subject = createNorthboundSubject({ client, picture: () => dumpRows(server) });
    try {
      await run(subject);
    } finally {
      await subject.close();
      await server.close();
    }
  });
