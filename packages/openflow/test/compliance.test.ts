import { afterAll, beforeAll, describe, test } from 'vitest';
import { connectSwitch, deleteAllGroups, deleteFlows, type SwitchConnection } from '../src/index.js';
import { FakeSwitch } from '../src/fake/index.js';
import { complianceCases } from './compliance/index.js';
import { nine } from './ports.js';

describe('the fake switch', () => {
  let connection: SwitchConnection;
  beforeAll(async () => {
    connection = await connectSwitch(new FakeSwitch({ ports: nine }).connect());
  });
  afterAll(() => connection.close());

  for (const { name, run } of complianceCases) {
    test(name, async () => {
      await connection.send([deleteFlows(), deleteAllGroups()]);
      await run(connection);
    });
  }
});
