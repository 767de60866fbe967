import { test } from 'node:test';
import { complianceCases } from '@podwire/engine/compliance';
import { createSubject } from './compliance-subject.js';
import { RealSwitch } from './real-switch.js';

for (const { name, run } of complianceCases)
  test(`on ovsdb-server: ${name}`, async () => {
    const server = await RealSwitch.start();
    const subject = createSubject({ client: server.client, picture: () => server.picture() });
    try {
      await run(subject);
    } finally {
      await subject.close();
      await server.close();
    }
  });
