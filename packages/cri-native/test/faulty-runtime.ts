/**
 * A process that takes a pod through its life and dies at one point of it: `node faulty-runtime.js PLACE POINT`, the
 * how-manieth point that is reached; 0 for none. Writes the names of the points that it reached, one for each line.
 */
import fs from 'node:fs';
import path from 'node:path';
import { createNativeRuntime } from '@podwire/cri-native';
import { createFileNetwork } from './file-network.js';
import {
  containerConfig,
  pauseProgram,
  type Place,
  runContainer,
  runSandbox,
  sandboxConfig,
} from './fixture.js';

const place = JSON.parse(process.argv[2] ?? '') as Place;
const deadly = Number(process.argv[3]);
const points = path.join(place.directory, 'points');
let reached = 0;

const faults = {
  reach(point: string): void {
    reached += 1;
    fs.appendFileSync(points, `${point}\n`);
    if (reached === deadly) process.kill(process.pid, 'SIGKILL');
  },
};

const runtime = await createNativeRuntime({
  directory: place.state,
  netnsDirectory: place.netns,
  network: createFileNetwork(path.join(place.directory, 'addresses')),
  pauseProgram,
  faults,
});

if (process.argv[4] === 'life') {
  const podSandboxId = await runSandbox(runtime, sandboxConfig(place));
  const command = ['/bin/busybox', 'sleep', '1000'];
  const containerId = await runContainer(runtime, podSandboxId, containerConfig(command));
  await runtime.stopContainer({ containerId, timeout: 0n });
  await runtime.removeContainer({ containerId });
  await runContainer(runtime, podSandboxId, containerConfig(command));
  await runtime.stopPodSandbox({ podSandboxId });
  await runtime.removePodSandbox({ podSandboxId });
}
await runtime.close();
