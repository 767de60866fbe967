import { test } from 'node:test';
import { deleteAllGroups, deleteFlows } from '@podwire/openflow';
import { complianceCases } from './compliance/index.js';
import { useSwitch } from './private-switch.js';

const used = useSwitch();

for (const { name, run } of complianceCases) {
  test(`Open vSwitch ${name}`, async () => {
    await used.connection.send([deleteFlows(), deleteAllGroups()]);
    await run(used.connection);
  });
}
