import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openSwitch } from '@podwire/openflow';
import { replaceFlows } from './example-bridge.js';
import { OpenVSwitch } from '@podwire/testkit/openvswitch';

let real: OpenVSwitch;

before(async () => {
  real = await OpenVSwitch.startWithBridge();
});
after(async () => {
  await real?.close();
});

test('the example of a bridge replaces the flows of its cookie alone', async () => {
  await real.ofctl(['add-flow', 'BRIDGE', 'table=1,cookie=0x8,actions=drop']);
  assert.deepEqual(
    await replaceFlows(real.socketOf('br0'), '0x7', ['table=2,actions=1', 'table=3,actions=1']),
    [],
  );
  assert.deepEqual(await replaceFlows(real.socketOf('br0'), '0x7', ['table=4,actions=1']), [0, 0]);
  await assert.rejects(replaceFlows(real.socketOf('br0'), '0x7', ['table=5,actions=group:9']), {
    code: 'OFPBAC_BAD_OUT_GROUP',
  });
  const bridge = await openSwitch(real.socketOf('br0'));
  assert.deepEqual(
    (await bridge.dump('flow')).map(({ flow }) => flow.table),
    [1, 4],
  );
  bridge.close();
});
