/**
 * `kill -9` of the agent at every step of DEL and of GC. After the restart the attachment is fully gone, or, where the agent died before
 * it had made up its mind, fully there; the runtime's DEL or GC then finishes it.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { CniCall } from './support/calls.js';
import { createFaultHost, type FaultHost } from './support/fault-host.js';
import { assertPoolWhole, killAt, record, type Recording, type Subject } from './support/matrix.js';
import { pickSteps } from './support/steps.js';
import { bystanderCall, createFullSubject, createFurtherSubject } from './support/subjects.js';

const passes = [
  { name: 'every resource alone', single: true },
  { name: 'in batches, as always', single: false },
] as const;

for (const { name, single } of passes) {
  describe(name, () => {
    let faults: FaultHost;
    let subject: Subject;
    let recording: Recording;
    before(async () => {
      faults = await createFaultHost({ name: single ? 'del1' : 'del', single });
      await faults.succeed(await bystanderCall(faults.host));
      subject = await createFullSubject(faults.host);
      recording = await record(faults, subject);
    });
    after(() => faults.close());

    test('DEL', async (context) => {
      const occurrences = recording.del;
      assert.deepEqual(
        occurrences.slice(-2).map(({ point }) => point),
        ['deferred:begin', 'deferred:end'],
      );
      const deaths = pickSteps(occurrences, single);
      for (const occurrence of deaths) {
        await faults.succeed(subject.add);
        await killAt(faults, subject, { occurrence, call: subject.del, pictures: recording.pictures });
      }
      await assertPoolWhole(faults, subject.pod);
      context.diagnostic(`killed at ${deaths.length} of ${occurrences.length} occurrences`);
    });

    test('GC, which leaves another attachment of the network alone', async (context) => {
      const valid = await createFurtherSubject(faults.host);
      await faults.succeed(valid.add);
      const listed = [{ containerID: valid.add.id, ifname: valid.add.ifName }];
      const gc: CniCall = { command: 'GC', config: { 'cni.dev/valid-attachments': listed } };
      const collected = await record(faults, { ...subject, del: gc });
      const deaths = pickSteps(collected.del, single);
      for (const occurrence of deaths) {
        await faults.succeed(subject.add);
        await killAt(faults, { ...subject, del: gc }, { occurrence, call: gc, pictures: collected.pictures });
        await valid.checkTraffic();
      }
      const prevResult = await faults.api.answerOf(valid.key);
      await faults.succeed({ ...valid.add, command: 'CHECK', config: { ...valid.add.config, prevResult } });
      await faults.succeed(valid.del);
      await assertPoolWhole(faults, subject.pod);
      context.diagnostic(`killed at ${deaths.length} of ${collected.del.length} occurrences`);
    });
  });
}
