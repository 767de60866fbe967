import { describe, expect, test } from 'vitest';
import { ContainerConfig, ContainerState, CriError, PodSandboxState } from '../src/index.js';
import { createFakeRuntime, type FakeClock, type FakeRuntime } from '../src/fake/index.js';
import { podConfig } from './support.js';

/** Time passes only in a sleep, and then at once. */
function jumpingClock(): FakeClock & { readonly slept: number[] } {
  const slept: number[] = [];
  let now = 1_000_000;
  return {
    slept,
    now: () => now,
    sleep: async (milliseconds, signal) => {
      slept.push(milliseconds);
      await Promise.resolve();
      signal.throwIfAborted();
      now += milliseconds;
    },
  };
}

const run = async (runtime: FakeRuntime, name?: string): Promise<string> =>
  (await runtime.runPodSandbox({ config: podConfig(name), runtimeHandler: '' })).podSandboxId;

async function startContainer(runtime: FakeRuntime, sandbox: string): Promise<string> {
  runtime.addImage('busybox');
  const config = ContainerConfig.fromPartial({ metadata: { name: 'main' }, image: { image: 'busybox' } });
  const { containerId } = await runtime.createContainer({ podSandboxId: sandbox, config });
  await runtime.startContainer({ containerId });
  return containerId;
}

describe('faults', () => {
  test('a refused call has done nothing, and only the one that was meant is refused', async () => {
    const runtime = createFakeRuntime();
    runtime.fail('runPodSandbox', { call: 2, how: 'refused' });
    await run(runtime, 'one');
    await expect(run(runtime, 'two')).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await run(runtime, 'three');
    expect((await runtime.listPodSandbox({})).items.map(({ metadata }) => metadata?.name)).toEqual([
      'one',
      'three',
    ]);
    expect(runtime.counts.runPodSandbox).toBe(3);
  });

  test('a call whose answer is lost has done its work', async () => {
    const runtime = createFakeRuntime();
    const error = new CriError('DEADLINE_EXCEEDED', 'too late');
    const takeBack = runtime.fail('runPodSandbox', { how: 'answer lost', error });
    await expect(run(runtime)).rejects.toBe(error);
    expect((await runtime.listPodSandbox({})).items).toHaveLength(1);
    takeBack();
    await run(runtime, 'other');
  });

  test('a call that hangs ends by its deadline or its signal', async () => {
    const runtime = createFakeRuntime({ clock: jumpingClock() });
    runtime.fail('version', { how: 'hangs' });
    const request = { version: 'v1' };
    await expect(runtime.version(request, { timeoutMs: 500 })).rejects.toMatchObject({
      code: 'DEADLINE_EXCEEDED',
    });
    const controller = new AbortController();
    const hanging = runtime.version(request, { signal: controller.signal });
    controller.abort();
    await expect(hanging).rejects.toMatchObject({ code: 'CANCELLED' });
  });

  test('latency passes on the clock, and longer than the deadline is too long', async () => {
    const clock = jumpingClock();
    const runtime = createFakeRuntime({ clock, latency: (method) => (method === 'status' ? 40 : 0) });
    await runtime.version({ version: '' });
    expect(clock.slept).toEqual([]);
    await runtime.status({ verbose: false });
    expect(clock.slept).toEqual([40]);
  });
});

describe('what happens by itself', () => {
  test('a crash is seen in the status, and its sandbox goes on', async () => {
    const runtime = createFakeRuntime();
    const sandbox = await run(runtime);
    const containerId = await startContainer(runtime, sandbox);
    runtime.crash(containerId, 137, 'OOMKilled');
    const { status } = await runtime.containerStatus({ containerId, verbose: false });
    expect(status).toMatchObject({
      state: ContainerState.CONTAINER_EXITED,
      exitCode: 137,
      reason: 'OOMKilled',
    });
    expect((await runtime.listPodSandbox({})).items[0]?.state).toBe(PodSandboxState.SANDBOX_READY);
  });

  test('a sandbox that dies takes its containers along and has no address any more', async () => {
    const runtime = createFakeRuntime({ addressesOf: () => ['10.1.0.7', 'fd00::7'] });
    const sandbox = await run(runtime);
    await startContainer(runtime, sandbox);
    const before = await runtime.podSandboxStatus({ podSandboxId: sandbox, verbose: false });
    expect(before.status?.network).toEqual({ ip: '10.1.0.7', additionalIps: [{ ip: 'fd00::7' }] });
    runtime.crashSandbox(sandbox);
    const { status, containersStatuses } = await runtime.podSandboxStatus({
      podSandboxId: sandbox,
      verbose: false,
    });
    expect(status?.state).toBe(PodSandboxState.SANDBOX_NOTREADY);
    expect(status?.network?.ip).toBe('');
    expect(containersStatuses.map(({ state }) => state)).toEqual([ContainerState.CONTAINER_EXITED]);
  });

  test('Status says what the test wants', async () => {
    const runtime = createFakeRuntime();
    runtime.setConditions({ networkReady: false });
    const { status } = await runtime.status({ verbose: false });
    expect(status?.conditions.map(({ type, status: holds }) => [type, holds])).toEqual([
      ['RuntimeReady', true],
      ['NetworkReady', false],
    ]);
  });
});

describe('programs', () => {
  test('ExecSync asks the test, and is limited by its timeout', async () => {
    const runtime = createFakeRuntime({
      clock: jumpingClock(),
      exec: (_, [name]) => (name === 'hang' ? new Promise(() => {}) : { stdout: 'yes', exitCode: 4 }),
    });
    const containerId = await startContainer(runtime, await run(runtime));
    const answer = await runtime.execSync({ containerId, cmd: ['ask'], timeout: 0n });
    expect([Buffer.from(answer.stdout).toString(), answer.exitCode]).toEqual(['yes', 4]);
    const late = runtime.execSync({ containerId, cmd: ['hang'], timeout: 3n });
    await expect(late).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED' });
  });

  test('a pull that no registry answers fails, and others are there afterwards', async () => {
    const runtime = createFakeRuntime({ registry: (name) => name !== 'absent' });
    const spec = (image: string) => ({ image, annotations: {}, userSpecifiedImage: '', runtimeHandler: '' });
    await expect(runtime.pullImage({ image: spec('absent') })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    const { imageRef } = await runtime.pullImage({ image: spec('nginx') });
    const { image } = await runtime.imageStatus({ image: spec('nginx'), verbose: false });
    expect(image).toMatchObject({ id: imageRef, repoTags: ['nginx:latest'] });
  });
});

test('malformed requests are refused as by a server', async () => {
  const runtime = createFakeRuntime();
  await expect(runtime.runPodSandbox({ runtimeHandler: '' })).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
    message: 'config is missing',
  });
});
