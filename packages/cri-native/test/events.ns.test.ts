/** Events of containers whose end comes sooner than a client can look. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { type ContainerEventResponse, ContainerEventType } from '@podwire/cri';
import { createNativeRuntime, type EmbeddedRuntime } from '@podwire/cri-native';
import { createFakePodNetwork } from '@podwire/pod-network/fake';
import {
  buildPauseProgram,
  closePlace,
  containerConfig,
  createDirectories,
  hasShim,
  pauseProgram,
  type Place,
  runContainer,
  runSandbox,
  sandboxConfig,
} from './fixture.js';

let place: Place;
let runtime: EmbeddedRuntime;
let sandbox: string;

before(async () => {
  buildPauseProgram();
  place = createDirectories();
  const { state: directory, netns: netnsDirectory } = place;
  const reach = (point: string): void => {
    if (point === 'start:answered') blockUntilShimsAreGone();
  };
  const rest = { network: createFakePodNetwork(), pauseProgram, faults: { reach } };
  runtime = await createNativeRuntime({ directory, netnsDirectory, ...rest });
  sandbox = await runSandbox(runtime, sandboxConfig(place));
});

after(() => closePlace(place, runtime, sandbox));

/** Blocks until no shim holds its lock: this process can do nothing before their programs have ended. */
function blockUntilShimsAreGone(): void {
  const ids = fs.readdirSync(path.join(place.state, 'containers'));
  const clock = new Int32Array(new SharedArrayBuffer(4));
  for (let left = 20_000; ids.some((id) => hasShim(place, id)); left -= 1) {
    assert.ok(left > 0, 'the shim does not end');
    Atomics.wait(clock, 0, 0, 1);
  }
}

test('a program that has ended before a client could connect: its events come whole and in order', async () => {
  const events = runtime.getContainerEvents({});
  const containerId = await runContainer(runtime, sandbox, containerConfig(['/bin/busybox', 'false']));
  await runtime.removeContainer({ containerId });
  const seen: ContainerEventResponse[] = [];
  for await (const event of events) {
    seen.push(event);
    if (event.containerEventType === ContainerEventType.CONTAINER_DELETED_EVENT) break;
  }
  assert.deepEqual(
    seen.map((event) => [event.containerId, event.containerEventType]),
    [
      [containerId, ContainerEventType.CONTAINER_CREATED_EVENT],
      [containerId, ContainerEventType.CONTAINER_STARTED_EVENT],
      [containerId, ContainerEventType.CONTAINER_STOPPED_EVENT],
      [containerId, ContainerEventType.CONTAINER_DELETED_EVENT],
    ],
  );
  assert.equal(seen[2]?.containersStatuses[0]?.exitCode, 1);
});
