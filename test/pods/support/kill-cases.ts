/**
 * `kill -9` of the pod agent, with the runtime in it, between any two steps of a pod's life. The next one finds the pod and goes on
 * with it, or takes away what is left. A life has many steps, so the cases stand in several files.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { type FaultInjection, type Occurrence } from '@podwire/testkit/fault-injection';
import { webPod } from './manifests.js';
import { createPodMachine, type MachineOptions, type PodMachine } from './pod-machine.js';

/** Comes up, is reached, and goes. */
async function live(machine: PodMachine): Promise<void> {
  machine.write('web.json', webPod('web'));
  await machine.untilServing('web');
  machine.drop('web.json');
  await machine.untilGone();
}

async function record(machine: PodMachine): Promise<Occurrence[]> {
  machine.injector.clear();
  await live(machine);
  await machine.assertNothingLeft();
  return machine.injector.occurrences();
}

/** Reports if the pod was still wanted when the pod agent died. */
async function killDuring(machine: PodMachine, occurrence: Occurrence): Promise<boolean> {
  const { injector, podAgent, paths } = machine;
  injector.clear();
  injector.inject({ ...occurrence, signal: 'SIGKILL' } satisfies FaultInjection);
  const died = podAgent.exited().then(() => 'died');
  const lived = live(machine).then(
    () => 'lived',
    () => died,
  );
  assert.equal(await Promise.race([died, lived]), 'died');
  assert.equal(injector.isPending(), false, 'it died elsewhere');
  await lived;
  return fs.existsSync(`${paths.manifests}/web.json`);
}

async function killAt(machine: PodMachine, occurrence: Occurrence): Promise<void> {
  const isWanted = await killDuring(machine, occurrence);
  await machine.podAgent.start();
  if (isWanted) {
    const { status } = await machine.untilServing('web');
    await machine.until('only one', (pods) => pods.length === 1);
    await machine.untilAddresses(status.podIP);
    machine.drop('web.json');
    await machine.untilGone();
  }
  await machine.assertNothingLeft();
}

/** @param isMeant which of the steps it is killed at */
export function defineKillCases(
  name: string,
  options: MachineOptions,
  isMeant: (occurrence: Occurrence, index: number) => boolean,
): void {
  void describe(name, () => {
    let machine: PodMachine;
    before(async () => {
      machine = await createPodMachine(options);
    });
    after(() => machine.close());

    void test('the steps of a life', { timeout: 280_000 }, async (context) => {
      const occurrences = await record(machine);
      const points = occurrences.map(({ point }) => point);
      for (const wanted of ['podlet:before RunPodSandbox', 'run:attached', 'podlet:after RemovePodSandbox']) {
        assert.ok(points.includes(wanted), `${wanted} is not among ${points.join(', ')}`);
      }
      const meant = occurrences.filter(isMeant);
      assert.ok(meant.length > 0);
      for (const occurrence of meant) {
        await context.test(
          `${occurrence.point} ${occurrence.skip === 0 ? '' : `(${occurrence.skip + 1})`}`,
          () => killAt(machine, occurrence),
        );
      }
    });
  });
}

/** Before or after a call of the runtime, not within one. */
export const isOfLoop = ({ point }: Occurrence): boolean => point.startsWith('podlet:');
