/**
 * `kill -9` of the agent at every step of ADD, called through the real plugin. After the restart the attachment is fully there or
 * fully gone; then the runtime's DEL succeeds, and the host is what it was.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { ResourceKind } from '@podwire/engine';
import { createFaultHost, type FaultHost } from './fault-host.js';
import { assertPoolWhole, killAt, prepareBlocks, record, type Recording, type Subject } from './matrix.js';
import { pickSteps } from './steps.js';
import { bystanderCall, createFullSubject, createFurtherSubject } from './subjects.js';

/** Kinds that a pod's list can hold; tables belong to the node and are killed for in the tests of recovery. */
const kinds = [
  ...['veth', 'ifb', 'link-up', 'link-ready', 'link-local-mode', 'address', 'route', 'rule', 'neighbour'],
  ...['sysctl', 'token-bucket', 'ingress-redirect', 'nft-element', 'conntrack-reset'],
] as const satisfies readonly Exclude<ResourceKind, 'nft-table'>[];

/** The first ADD in a block differs from any other up to the point where the node has what the block needs. */
function occurrencesOf({ firstAdd, add }: Recording) {
  const upTo = (occurrences: Recording['add']): number =>
    occurrences.findIndex(({ point }) => point === 'add:node-ready') + 1;
  assert.ok(upTo(firstAdd) > upTo(add) && upTo(add) > 0, 'only the first ADD puts routes in occurrence');
  return { inFirst: firstAdd.slice(0, upTo(firstAdd)), inAny: add.slice(upTo(add)) };
}

/** @param single every resource alone, which shows its kind; else in batches, as always */
export function defineAddCases(single: boolean): void {
  void describe(single ? 'every resource alone' : 'in batches, as always', () => {
    const seenKinds = new Set<string>();
    let faults: FaultHost;
    before(async () => {
      faults = await createFaultHost({ name: single ? 'add1' : 'add', single });
      await faults.succeed(await bystanderCall(faults.host));
      await faults.agent.stop();
      await faults.restart();
    });
    after(() => faults.close());

    for (const which of ['full', 'further'] as const)
      void test(`the ${which} attachment`, async (context) => {
        const { host } = faults;
        const subject: Subject =
          which === 'full' ? await createFullSubject(host) : await createFurtherSubject(host);
        const recording = await record(faults, subject);
        const { pictures } = recording;
        const { inFirst, inAny } = occurrencesOf(recording);
        for (const { point } of [...inFirst, ...inAny]) seenKinds.add(point.split(':')[2] ?? '');
        const deaths = { inFirst: pickSteps(inFirst, single), inAny: pickSteps(inAny, single) };
        for (const occurrence of deaths.inFirst) {
          await prepareBlocks(faults, subject, false);
          await killAt(faults, subject, { occurrence, call: subject.add, pictures });
        }
        for (const occurrence of deaths.inAny) {
          await prepareBlocks(faults, subject, true);
          await killAt(faults, subject, { occurrence, call: subject.add, pictures });
        }
        await assertPoolWhole(faults, subject.pod);
        const count = deaths.inFirst.length + deaths.inAny.length;
        context.diagnostic(`killed at ${count} of ${inFirst.length + inAny.length} occurrences`);
      });

    if (!single) return;
    void test('every kind of resource was among the steps', () => {
      for (const kind of kinds) assert.ok(seenKinds.has(kind), `${kind} was never applied`);
    });
  });
}
