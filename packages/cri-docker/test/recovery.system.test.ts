/** SIGKILL for the service at every point of Run, Stop and Remove: after its restart nothing is leaked. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { PodSandboxState } from '@podwire/cri';
import { createSandboxHost, podConfig, type SandboxHost } from './support/harness.js';

let machine: SandboxHost;
let pods = 0;
before(async () => {
  machine = await createSandboxHost({ name: 'rec' });
});
after(() => machine.close());

const config = (name: string) =>
  podConfig(name, {
    dnsConfig: { servers: ['10.1.1.1'] },
    annotations: { 'kubernetes.io/config.source': 'file' },
  });

async function runPod(name = `pod${(pods += 1)}`): Promise<string> {
  return (await machine.cri.runPodSandbox({ config: config(name), runtimeHandler: '' })).podSandboxId;
}

/** Whatever was cut off is gone, or its sandbox is ready, and a caller that goes on ends with nothing. */
async function assertNothingLost(what: string): Promise<void> {
  const { items } = await machine.cri.listPodSandbox({ filter: undefined });
  const ready = items.filter(({ state }) => state === PodSandboxState.SANDBOX_READY).map(({ id }) => id);
  assert.equal(machine.leases().length, ready.length, `${what}: addresses ${machine.leases().join(' ')}`);
  assert.deepEqual(machine.pinned(), ready.map((id) => `podwire-${id}`).sort(), `${what}: namespaces`);
  assert.equal((await machine.links()).length, ready.length, `${what}: links`);
  for (const { id } of items) {
    await machine.cri.stopPodSandbox({ podSandboxId: id });
    await machine.cri.removePodSandbox({ podSandboxId: id });
  }
  assert.deepEqual(await machine.docker.containers(), [], `${what}: containers`);
  assert.deepEqual(machine.leases(), [], `${what}: addresses afterwards`);
  assert.deepEqual(machine.pinned(), [], `${what}: namespaces afterwards`);
  const checkpoints = path.join(machine.root, 'sandbox');
  assert.deepEqual(fs.existsSync(checkpoints) ? fs.readdirSync(checkpoints) : [], [], `${what}: checkpoints`);
}

/** The points that a call reaches, in their order. */
async function recordPoints(
  setUp: () => Promise<string>,
  call: (id: string) => Promise<unknown>,
): Promise<string[]> {
  const log = path.join(machine.host.directory, 'points');
  fs.rmSync(log, { force: true });
  await machine.service.stop();
  await machine.service.start({ FAULT_LOG: log });
  const id = await setUp();
  fs.writeFileSync(log, '');
  await call(id);
  const points = fs.readFileSync(log, 'utf8').trim().split('\n');
  await machine.service.stop();
  await machine.service.start();
  return [...new Set(points)];
}

async function dieAtEach(
  points: readonly string[],
  setUp: () => Promise<string>,
  call: (id: string) => Promise<unknown>,
): Promise<void> {
  for (const point of points) {
    const id = await setUp();
    await machine.service.stop();
    await machine.service.start({ FAULT_AT: point });
    // A recovery reaches some of the points as well; those are covered by the other tests.
    await Promise.all([call(id).catch(() => undefined), machine.service.exited()]);
    await machine.service.start();
    await assertNothingLost(point);
  }
}

test('between any two steps of RunPodSandbox', { timeout: 300_000 }, async () => {
  const nothing = (): Promise<string> => Promise.resolve('');
  const points = await recordPoints(nothing, () => runPod());
  await assertNothingLost('before');
  assert.ok(points.length >= 12, points.join(' '));
  await dieAtEach(points, nothing, () => runPod());
});

test('between any two steps of StopPodSandbox', { timeout: 300_000 }, async () => {
  const stop = (podSandboxId: string): Promise<unknown> => machine.cri.stopPodSandbox({ podSandboxId });
  const points = await recordPoints(runPod, stop);
  await assertNothingLost('before');
  assert.ok(points.length >= 4, points.join(' '));
  await dieAtEach(points, runPod, stop);
});

test('between any two steps of RemovePodSandbox', { timeout: 300_000 }, async () => {
  const remove = (podSandboxId: string): Promise<unknown> => machine.cri.removePodSandbox({ podSandboxId });
  const points = await recordPoints(runPod, remove);
  assert.ok(points.length >= 6, points.join(' '));
  await dieAtEach(points, runPod, remove);
});

test('between any two steps of the recovery itself', { timeout: 300_000 }, async () => {
  const half = async (): Promise<void> => {
    await machine.service.stop();
    await machine.service.start({ FAULT_AT: 'run:resolv.conf:done' });
    await Promise.all([runPod().catch(() => undefined), machine.service.exited()]);
  };
  const log = path.join(machine.host.directory, 'recovery-points');
  await half();
  await machine.service.start({ FAULT_LOG: log });
  const points = [...new Set(fs.readFileSync(log, 'utf8').trim().split('\n'))];
  assert.ok(points.length >= 5, points.join(' '));
  await assertNothingLost('before');
  for (const point of points) {
    await half();
    await machine.service.startAndDie({ FAULT_AT: point });
    await machine.service.start();
    await assertNothingLost(point);
  }
});

test('an engine that dies under the service takes its pods along; a Stop frees what they had', async () => {
  const podSandboxId = await runPod();
  await machine.docker.kill9();
  await machine.docker.start();
  const { status } = await machine.cri.podSandboxStatus({ podSandboxId, verbose: false });
  assert.equal(status?.state, PodSandboxState.SANDBOX_NOTREADY);
  assert.equal(status.network?.ip, '');
  assert.equal(machine.leases().length, 1);
  await machine.cri.stopPodSandbox({ podSandboxId });
  assert.deepEqual(machine.leases(), []);
  await assertNothingLost('afterwards');
});

test('a sandbox that is whole lives on, with its address', async () => {
  const podSandboxId = await runPod();
  const { status: before } = await machine.cri.podSandboxStatus({ podSandboxId, verbose: false });
  await machine.service.kill9();
  await machine.service.start();
  const { status } = await machine.cri.podSandboxStatus({ podSandboxId, verbose: false });
  assert.equal(status?.state, PodSandboxState.SANDBOX_READY);
  assert.deepEqual(status.network, before?.network);
  assert.deepEqual(machine.leases(), [before?.network?.ip]);
  await assertNothingLost('afterwards');
});

test('after a reboot all addresses are free, and the sandboxes are not ready', async () => {
  const ids = [await runPod(), await runPod()];
  assert.equal(machine.leases().length, 2);
  await machine.service.kill9();
  await machine.docker.kill9();
  for (const name of machine.pinned())
    await machine.host.run(['umount', path.join(machine.netnsDirectory, name)]);
  fs.writeFileSync(path.join(machine.host.directory, 'boot-id'), 'the second boot\n');
  await machine.docker.start();
  await machine.service.start();
  assert.deepEqual(machine.leases(), []);
  assert.deepEqual(machine.pinned(), []);
  const { items } = await machine.cri.listPodSandbox({ filter: undefined });
  assert.deepEqual(items.map(({ id, state }) => [id, state]).sort(), ids.map((id) => [id, 1]).sort());
  await assertNothingLost('afterwards');
});

test('a service that starts before its engine recovers as soon as that answers', async () => {
  const id = await runPod();
  await machine.service.kill9();
  await machine.docker.kill9();
  await machine.service.start();
  const { status } = await machine.cri.status({ verbose: false });
  assert.equal(status?.conditions.find(({ type }) => type === 'RuntimeReady')?.status, false);
  await assert.rejects(machine.cri.runPodSandbox({ config: config('early'), runtimeHandler: '' }), {
    code: 'UNAVAILABLE',
  });
  await machine.docker.start();
  const next = await runPod();
  assert.deepEqual(machine.pinned(), [`podwire-${next}`]);
  const { items } = await machine.cri.listPodSandbox({ filter: undefined });
  assert.deepEqual(items.map((item) => item.id).sort(), [id, next].sort());
  await assertNothingLost('afterwards');
});

test('a container that has vanished with its sandbox is found by its checkpoint', async () => {
  const id = await runPod();
  await machine.docker.call('DELETE', `/containers/${id}?force=1`);
  const { items } = await machine.cri.listPodSandbox({ filter: undefined });
  assert.deepEqual(
    items.map(({ id: each, state, metadata }) => [each, state, metadata?.namespace]),
    [[id, PodSandboxState.SANDBOX_NOTREADY, 'default']],
  );
  assert.equal(machine.leases().length, 1);
  await machine.cri.stopPodSandbox({ podSandboxId: id });
  assert.deepEqual(machine.leases(), []);
  await machine.cri.removePodSandbox({ podSandboxId: id });
  await assertNothingLost('afterwards');
});

test('no lock is left', async () => {
  assert.equal(await machine.service.stop(), 'locks 0');
  await machine.service.start();
});
