import { after, before, test } from 'node:test';
import { complianceCases } from '@podwire/engine/compliance';
import { openSwitch } from '@podwire/openflow';
import { OpenVSwitch } from '@podwire/testkit/openvswitch';
import { createSubject } from './compliance-subject.js';
import { empty } from './real-bridge.js';

let real: OpenVSwitch | undefined;
before(async () => {
  real = await OpenVSwitch.startWithBridge();
});
after(async () => real?.close());

for (const { name, run } of complianceCases)
  test(`on ovs-vswitchd: ${name}`, async () => {
    await empty(real!);
    await run(createSubject((options) => openSwitch(real!.socketOf('br0'), options)));
  });
