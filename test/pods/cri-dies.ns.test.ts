/** The connection to the runtime dies in every call that a pod's life makes, before and after the call has had its effect. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import type { MethodName } from '@podwire/cri';
import { type Interposer, startInterposer } from './support/interposer.js';
import { container, pod, serving } from './support/manifests.js';
import { createPodMachine, type PodMachine, startEntry } from './support/pod-machine.js';

let machine: PodMachine;
let interposer: Interposer;

before(async () => {
  machine = await createPodMachine({
    name: 'cri',
    runtime: async ({ host, paths, config }) => {
      const socket = path.join(host.directory, 'cri.sock');
      await startEntry(host, 'cri-service-entry', { ...config, socket }, paths.orders).start();
      interposer = await startInterposer(socket);
      host.defer(() => interposer.close());
      return { runtime: interposer.socket };
    },
  });
});
afterEach(() => machine.assertNothingLeft());
after(() => machine.close());

const program = { exec: { command: ['/bin/busybox', 'true'] } };
const often = { periodSeconds: 1, timeoutSeconds: 5 };

/** Every kind of call happens in its life. A call that fails says nothing about the container, so one failure is allowed none. */
const webPod = pod('web', [
  container('web', serving('web'), {
    livenessProbe: { ...program, ...often, failureThreshold: 1 },
    readinessProbe: { httpGet: { path: '/', port: 80 }, ...often },
    lifecycle: { postStart: program, preStop: program },
  }),
]);

const methods: readonly MethodName[] = [
  ...(['status', 'listPodSandbox', 'listContainers', 'podSandboxStatus', 'containerStatus'] as const),
  ...(['imageStatus', 'runPodSandbox', 'createContainer', 'startContainer', 'execSync'] as const),
  ...(['stopContainer', 'removeContainer', 'stopPodSandbox', 'removePodSandbox'] as const),
  'getContainerEvents',
];

describe('the connection dies', () => {
  for (const method of methods)
    for (const when of ['before', 'after'] as const)
      test(`${when} ${method}`, async () => {
        if (method === 'getContainerEvents') await interposer.untilFollowed();
        interposer.cut(method, when);
        machine.write('web.json', webPod);
        const { status } = await machine.untilServing('web');
        assert.deepEqual(await machine.addresses(), [status.podIP]);
        const { items } = await interposer.runtime.listPodSandbox({});
        assert.equal(items.length, 1, 'one sandbox, and no second one');
        machine.drop('web.json');
        await machine.untilGone();
        await interposer.untilCut();
      });
});

test('containers were not restarted for it', async () => {
  for (const method of ['execSync', 'listContainers', 'listPodSandbox', 'status'] as const) {
    machine.write('web.json', webPod);
    await machine.untilServing('web');
    interposer.cut(method, 'before');
    // It runs into that by itself: no event tells when.
    await interposer.untilCut();
    const { status } = await machine.untilServing('web');
    assert.deepEqual(
      status.containerStatuses.map(({ restartCount }) => restartCount),
      [0],
    );
    machine.drop('web.json');
    await machine.untilGone();
  }
});
