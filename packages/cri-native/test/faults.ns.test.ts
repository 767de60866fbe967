/** The process dies between any two steps; whatever is left then is adopted or taken away by the next one. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { ContainerState, PodSandboxState } from '@podwire/cri';
import { createNativeRuntime, type EmbeddedRuntime } from '@podwire/cri-native';
import { mountTmpfs, unmount } from '@podwire/linux';
import { silentLog } from '@podwire/platform';
import { createFileNetwork } from './file-network.js';
import {
  buildPauseProgram,
  createDirectories,
  pauseProgram,
  inside,
  leftovers,
  type Place,
  runSandbox,
  sandboxConfig,
} from './fixture.js';

before(buildPauseProgram);

function makePlace(): Place {
  const place = createDirectories();
  fs.mkdirSync(path.join(place.directory, 'addresses'));
  return place;
}

const addressesOf = (place: Place): string[] => fs.readdirSync(path.join(place.directory, 'addresses'));

/** @returns the points that it reached; it was killed at the last one unless `point` is 0 */
function die(place: Place, point: number, what: 'life' | 'start'): string[] {
  const file = path.join(place.directory, 'points');
  fs.rmSync(file, { force: true });
  const entry = path.join(import.meta.dirname, 'faulty-runtime.js');
  const argv = [entry, JSON.stringify(place), String(point), what];
  const { signal, status, stderr } = spawnSync(process.execPath, argv, { timeout: 60_000, encoding: 'utf8' });
  if (point === 0) assert.equal(status, 0, stderr);
  const points = fs.existsSync(file) ? fs.readFileSync(file, 'utf8').trim().split('\n') : [];
  if (signal === null) assert.equal(status, 0, stderr);
  return points;
}

const open = (place: Place): Promise<EmbeddedRuntime> =>
  createNativeRuntime({
    directory: place.state,
    netnsDirectory: place.netns,
    network: createFileNetwork(path.join(place.directory, 'addresses')),
    pauseProgram,
  });

/** Every listed sandbox and container works; every other has left nothing. */
async function checkAdopted(runtime: EmbeddedRuntime, place: Place): Promise<void> {
  const { items } = await runtime.listPodSandbox({});
  for (const { id, state } of items) {
    const { status } = await runtime.podSandboxStatus({ podSandboxId: id, verbose: false });
    if (state === PodSandboxState.SANDBOX_READY) assert.match(status?.network?.ip ?? '', /^10\.1\./);
  }
  for (const { id, state } of (await runtime.listContainers({})).containers) {
    if (state === ContainerState.CONTAINER_RUNNING)
      assert.match(await inside(runtime, id, 'cat /proc/1/cmdline'), /busybox/);
    if (state !== ContainerState.CONTAINER_EXITED) continue;
    const { status } = await runtime.containerStatus({ containerId: id, verbose: false });
    assert.ok([137, 255].includes(status?.exitCode ?? 0), `exit code ${status?.exitCode}`);
  }
  if (items.length === 0) assert.deepEqual([...leftovers(place), ...addressesOf(place)], []);
}

/** A READY sandbox takes a container; one that is not is only removed. */
async function useAndRemove(runtime: EmbeddedRuntime): Promise<void> {
  for (const { id, state } of (await runtime.listPodSandbox({})).items) {
    for (const container of (await runtime.listContainers({})).containers)
      if (container.state === ContainerState.CONTAINER_CREATED && state === PodSandboxState.SANDBOX_READY) {
        await runtime.startContainer({ containerId: container.id });
        assert.match(await inside(runtime, container.id, 'cat /proc/1/cmdline'), /busybox/);
      }
    await runtime.stopPodSandbox({ podSandboxId: id });
    await runtime.removePodSandbox({ podSandboxId: id });
  }
}

async function settle(place: Place): Promise<void> {
  const runtime = await open(place);
  try {
    await checkAdopted(runtime, place);
    await useAndRemove(runtime);
  } finally {
    await runtime.close();
  }
  assert.deepEqual([...leftovers(place), ...addressesOf(place)], []);
}

describe('kill -9 at every point of a pod’s life', () => {
  const clean = makePlace();
  buildPauseProgram();
  const points = die(clean, 0, 'life');
  fs.rmSync(clean.directory, { recursive: true });
  assert.ok(points.length > 30, `only ${points.length} points`);
  for (const [index, point] of points.entries())
    test(`${index + 1}: ${point}`, async () => {
      const place = makePlace();
      assert.deepEqual(die(place, index + 1, 'life'), points.slice(0, index + 1));
      await settle(place);
      fs.rmSync(place.directory, { recursive: true });
    });
});

test('kill -9 at every point of the recovery itself', async () => {
  // Where a sandbox is made and not finished there is most to take back.
  const deadly = 10;
  for (let point = 1; ; point += 1) {
    const place = makePlace();
    const [name] = die(place, deadly, 'life').slice(-1);
    assert.equal(name, 'run:live');
    const reached = die(place, point, 'start');
    await settle(place);
    fs.rmSync(place.directory, { recursive: true });
    if (reached.length < point) break;
    assert.ok(point < 50);
  }
});

test('kill -9 at any moment, also while the kernel is at it', async () => {
  for (let round = 0; round < 15; round += 1) {
    const place = makePlace();
    const entry = path.join(import.meta.dirname, 'faulty-runtime.js');
    const child = spawn(process.execPath, [entry, JSON.stringify(place), '0', 'life'], { stdio: 'ignore' });
    const ended = once(child, 'exit');
    const begun = path.join(place.directory, 'points');
    while (!fs.existsSync(begun) && child.exitCode === null) await delay(1);
    // Spread over the first steps, which take some 30 ms altogether.
    await delay(round * 2);
    child.kill('SIGKILL');
    await ended;
    await settle(place);
    fs.rmSync(place.directory, { recursive: true });
  }
});

test('addresses that cannot be read prevent no start', async () => {
  const place = makePlace();
  const network = createFileNetwork(path.join(place.directory, 'addresses'));
  const { state: directory, netns: netnsDirectory } = place;
  const options = { directory, netnsDirectory, pauseProgram };
  const first = await createNativeRuntime({ ...options, network });
  const podSandboxId = await runSandbox(first, sandboxConfig(place));
  await first.close();
  const addresses = (): Promise<never> => Promise.reject(new Error('EIO'));
  const second = await createNativeRuntime({ ...options, network: { ...network, addresses } });
  const { status } = await second.podSandboxStatus({ podSandboxId, verbose: false });
  assert.deepEqual([status?.state, status?.network?.ip], [PodSandboxState.SANDBOX_READY, '']);
  await second.close();
  await settle(place);
  fs.rmSync(place.directory, { recursive: true });
});

test('what cannot be deleted prevents neither the removal of a sandbox nor a start', async () => {
  const place = makePlace();
  const network = createFileNetwork(path.join(place.directory, 'addresses'));
  const { state: directory, netns: netnsDirectory } = place;
  const warnings: object[] = [];
  const log = { ...silentLog, warn: (fields: object) => void warnings.push(fields) };
  const options = { directory, netnsDirectory, pauseProgram, network, log };
  const first = await createNativeRuntime(options);
  const podSandboxId = await runSandbox(first, sandboxConfig(place));
  const busy = path.join(directory, 'sandboxes', podSandboxId, 'busy');
  fs.mkdirSync(busy);
  mountTmpfs(busy, { sizeBytes: 4096, mode: 0o755 });
  try {
    await first.removePodSandbox({ podSandboxId });
    assert.deepEqual((await first.listPodSandbox({})).items, []);
    await first.close();
    await (await createNativeRuntime(options)).close();
    assert.deepEqual(
      warnings.map((each) => (each as { directory?: string }).directory),
      [path.dirname(busy), path.dirname(busy)],
    );
  } finally {
    unmount(busy);
  }
  await settle(place);
  assert.ok(!fs.existsSync(busy));
  fs.rmSync(place.directory, { recursive: true });
});

test('a start that fails lets go of what it has found already', async () => {
  const place = makePlace();
  const network = createFileNetwork(path.join(place.directory, 'addresses'));
  const { state: directory, netns: netnsDirectory } = place;
  const options = { directory, netnsDirectory, pauseProgram, network };
  const connections = (): number =>
    process.getActiveResourcesInfo().filter((name) => name === 'PipeWrap').length;
  const before = connections();
  const first = await createNativeRuntime(options);
  await runSandbox(first, sandboxConfig(place));
  await first.close();
  const info = (): never => {
    throw new Error('the disk is full');
  };
  await assert.rejects(createNativeRuntime({ ...options, log: { ...silentLog, info } }), /disk is full/);
  // A connection is closed some turns after it was told to.
  for (let turn = 0; turn < 1000 && connections() > before; turn += 1) await new Promise(setImmediate);
  assert.ok(connections() <= before);
  await settle(place);
  fs.rmSync(place.directory, { recursive: true });
});
