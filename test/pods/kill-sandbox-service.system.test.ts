/**
 * `kill -9` of the sandbox service on Docker Engine between any two of its steps, while the pod agent brings a pod up or takes it
 * down. The pod agent lives on, and finds out.
 */
import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { pauseImage } from '@podwire/testkit/containerd';
import { type Docker, startDocker } from '@podwire/testkit/docker';
import { type FaultInjector, openFaultInjector, type Occurrence } from '@podwire/testkit/fault-injection';
import { webPod } from './support/manifests.js';
import { createPodMachine, type PodMachine, startEntry } from './support/pod-machine.js';
import type { Service } from './support/service.js';

let machine: PodMachine;
let docker: Docker;
let service: Service;
let injector: FaultInjector;

before(async () => {
  machine = await createPodMachine({
    name: 'ks',
    runtime: async ({ host, config }) => {
      docker = await startDocker(host);
      const orders = path.join(host.directory, 'service-orders');
      injector = openFaultInjector(orders);
      injector.clear();
      const socket = path.join(host.directory, 'cri.sock');
      const engine = { runtime: 'docker', dockerSocket: docker.socket, sandboxImage: pauseImage };
      service = startEntry(host, 'cri-service-entry', { ...config, ...engine, socket }, orders);
      await service.start();
      return { runtime: socket };
    },
  });
});
after(() => machine.close());

async function assertNothingLeft(): Promise<void> {
  await machine.assertNothingLeft();
  assert.deepEqual(await docker.containers(), []);
}

async function record(): Promise<Occurrence[]> {
  injector.clear();
  machine.write('web.json', webPod('web'));
  await machine.untilServing('web');
  machine.drop('web.json');
  await machine.untilGone();
  await assertNothingLeft();
  return injector.occurrences();
}

/** The whole life, whatever happens in it; the service starts again when it has died. */
async function liveThrough(occurrence: Occurrence): Promise<void> {
  injector.clear();
  injector.inject({ ...occurrence, signal: 'SIGKILL' });
  const restarted = service.exited().then(() => service.start());
  machine.write('web.json', webPod('web'));
  const { status } = await machine.untilServing('web');
  await machine.untilAddresses(status.podIP);
  machine.drop('web.json');
  await machine.untilGone();
  // Some steps are taken when the pod agent has its answer.
  for (const end = performance.now() + 20_000; injector.isPending(); await sleep(20))
    assert.ok(performance.now() < end, 'it was not killed');
  await restarted;
  await assertNothingLeft();
}

test('every step of a life', { timeout: 400_000 }, async (context) => {
  const occurrences = await record();
  const points = occurrences.map(({ point }) => point);
  assert.ok(occurrences.length >= 20, points.join(', '));
  for (const occurrence of occurrences) {
    const name = `${occurrence.point} ${occurrence.skip === 0 ? '' : `(${occurrence.skip + 1})`}`;
    await context.test(name, () => liveThrough(occurrence));
  }
});
