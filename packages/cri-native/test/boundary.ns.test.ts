/** Boundary between a container and the host, as far as this runtime promises it. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createNativeRuntime, type EmbeddedRuntime } from '@podwire/cri-native';
import { createFakePodNetwork } from '@podwire/pod-network/fake';
import {
  buildPauseProgram,
  containerConfig,
  createDirectories,
  pauseProgram,
  inside,
  leftovers,
  type Place,
  runContainer,
  runSandbox,
  sandboxConfig,
} from './fixture.js';

let place: Place;
let runtime: EmbeddedRuntime;

before(async () => {
  buildPauseProgram();
  place = createDirectories();
  const { state: directory, netns: netnsDirectory } = place;
  runtime = await createNativeRuntime({
    directory,
    netnsDirectory,
    pauseProgram,
    network: createFakePodNetwork(),
  });
});

after(async () => {
  for (const { id } of (await runtime.listPodSandbox({})).items)
    await runtime.removePodSandbox({ podSandboxId: id });
  const left = leftovers(place);
  await runtime.close();
  fs.rmSync(place.directory, { recursive: true });
  assert.deepEqual(left, []);
});

const sleep = ['/bin/busybox', 'sleep', '1000'];

/** A container that sleeps, in a sandbox of its own. */
async function sleeper(fields: Parameters<typeof containerConfig>[1] = {}): Promise<string> {
  const sandbox = await runSandbox(runtime, sandboxConfig(place));
  return runContainer(runtime, sandbox, containerConfig(sleep, fields));
}

describe('what the runtime itself has in a pod', () => {
  const shared = {
    linux: { securityContext: { namespaceOptions: { network: 0, pid: 0, ipc: 0 } as const } },
  };
  /** Of each process of ours: entries of its root and its working directory, and how many of its five capability sets are empty. */
  const look = `for each in /proc/[0-9]*; do
    grep -q podwire-hol[d] $each/cmdline || continue
    echo $(ls -A $each/root/ | wc -l) $(ls -A $each/cwd/ | wc -l) $(grep -c '^Cap.*0000000000000000$' $each/status)
  done`;

  test('a container that may trace processes finds no file and no right of the host in it', async () => {
    const sandbox = await runSandbox(runtime, sandboxConfig(place, shared));
    const linux = {
      securityContext: { capabilities: { addCapabilities: ['SYS_PTRACE'] }, namespaceOptions: { pid: 0 } },
    } as const;
    const id = await runContainer(runtime, sandbox, containerConfig(sleep, { linux }));
    // The pauseProgram and what stands above the program.
    assert.equal(await inside(runtime, id, look), '0 0 5\n0 0 5\n');
    await assert.rejects(inside(runtime, id, 'touch /proc/1/root/new'), /Read-only/);
  });

  test('one that may not cannot even look', async () => {
    const sandbox = await runSandbox(runtime, sandboxConfig(place, shared));
    const id = await runContainer(runtime, sandbox, containerConfig(sleep));
    for (const what of ['exe', 'root', 'cwd', 'ns/mnt', 'fd/3'])
      await assert.rejects(inside(runtime, id, `readlink /proc/1/${what}`), /exit 1/);
  });

  test('devices are in /dev only, and none is made without being allowed to', async () => {
    await assert.rejects(inside(runtime, await sleeper(), 'mknod /null c 1 3'), /not permitted/);
    const linux = { securityContext: { capabilities: { addCapabilities: ['MKNOD'] } } };
    const id = await sleeper({ linux });
    await assert.rejects(inside(runtime, id, 'mknod /null c 1 3; cat /null'), /denied/);
    await inside(runtime, id, 'cat /dev/null');
  });

  test('shared memory is a file system of the pod, with a bound, that users of the host cannot enter', async () => {
    const sandbox = await runSandbox(runtime, sandboxConfig(place));
    const id = await runContainer(runtime, sandbox, containerConfig(sleep));
    const mount = await inside(runtime, id, 'grep " /dev/shm " /proc/mounts; stat -c %a /dev/shm');
    assert.match(mount, /^tmpfs \/dev\/shm tmpfs rw,nosuid,nodev,noexec,.*size=65536k.*\n1777\n$/);
    await inside(runtime, id, 'echo x > /dev/shm/file');
    const directory = path.join(place.state, 'sandboxes', sandbox);
    assert.equal(fs.readFileSync(path.join(directory, 'shm', 'file'), 'utf8'), 'x\n');
    assert.equal(fs.statSync(directory).mode & 0o777, 0o700);
  });
});

test('directories deeper than a path is long break neither statistics nor removal', async () => {
  const podSandboxId = await runSandbox(runtime, sandboxConfig(place));
  const script = `for (let i = 0; i < 60; i++) {
    require('fs').mkdirSync('d'.repeat(200));
    process.chdir('d'.repeat(200));
  }
  require('fs').writeFileSync('/done', '');
  setTimeout(() => {}, 1e6);`;
  const deep = await runContainer(runtime, podSandboxId, containerConfig([process.execPath, '-e', script]));
  const other = await runContainer(runtime, podSandboxId, containerConfig(['/bin/busybox', 'sleep', '1000']));
  await inside(runtime, deep, 'until test -e /done; do sleep 0.02; done');
  const { stats } = await runtime.listContainerStats({});
  const inodes = new Map(stats.map((each) => [each.attributes?.id, each.writableLayer?.inodesUsed?.value]));
  assert.equal((inodes.get(deep) ?? 0n) >= 60n, true);
  assert.equal(typeof inodes.get(other), 'bigint');
  await runtime.removeContainer({ containerId: deep });
  const left = fs.readdirSync(path.join(place.state, 'containers'));
  assert.deepEqual([left.includes(deep), left.includes(other)], [false, true]);
});

test('records that are none keep nothing from running, and what they stood for is removed by its id', async () => {
  const other = createDirectories();
  const { state: directory, netns: netnsDirectory } = other;
  const open = () =>
    createNativeRuntime({ directory, netnsDirectory, pauseProgram, network: createFakePodNetwork() });
  const first = await open();
  const [damaged, whole] = [
    await runSandbox(first, sandboxConfig(other)),
    await runSandbox(first, sandboxConfig(other)),
  ];
  const inDamaged = await runContainer(first, damaged, containerConfig(sleep));
  await first.close();
  fs.writeFileSync(path.join(directory, 'sandboxes', damaged, 'record.ready'), 'null');
  fs.writeFileSync(path.join(directory, 'containers', inDamaged, 'record'), '{}');
  const again = await open();
  const states = new Map((await again.listPodSandbox({})).items.map(({ id, state }) => [id, state]));
  assert.deepEqual([states.get(whole), states.get(damaged)], [0, 1]);
  await again.removeContainer({ containerId: inDamaged });
  for (const podSandboxId of [damaged, whole]) await again.removePodSandbox({ podSandboxId });
  assert.deepEqual(leftovers(other), []);
  await again.close();
  fs.rmSync(other.directory, { recursive: true });
});
