import { after, before, test } from 'node:test';
import { deleteAllGroups, deleteFlows, openSwitch, type SwitchConnection } from '@podwire/openflow';
import { complianceCases } from './compliance/index.js';
import { type PrivateSwitch, startPrivateSwitch } from './private-switch.js';

let real: PrivateSwitch;
let connection: SwitchConnection;

before(async () => {
  real = await startPrivateSwitch();
  connection = await openSwitch(real.socket);
});
after(async () => {
  connection?.close();
  await real?.close();
});

for (const { name, run } of complianceCases) {
  test(`Open vSwitch ${name}`, async () => {
    await connection.send([deleteFlows(), deleteAllGroups()]);
    await run(connection);
  });
}
