import { CriError } from '@podwire/cri';
import { describe, expect, it } from 'vitest';
import type { Pod, PodStatus } from '@podwire/pod-spec';
import { changing, recordCalls } from './calls.js';
import { createBench } from './fixture.js';
import { aContainer, aPod } from './pods.js';
import { describeRuntime } from './watchdog.js';

const second = 1_000;
const preStop = { preStop: { exec: { command: ['drain'] } } };

describe('a pod that no source wants any more', () => {
  it('is taken down completely: Stop before Remove, sandbox after containers, directory last', async () => {
    const recorder = recordCalls();
    const bench = createBench({ wrap: recorder.wrap });
    const podlet = bench.start();
    bench.file.say([aPod()]);
    await bench.clock.settle();
    recorder.calls.splice(0);
    bench.file.say([]);
    await bench.clock.settle();
    expect(changing(recorder.calls)).toEqual([
      'stopContainer',
      'stopPodSandbox',
      'removeContainer',
      'stopPodSandbox',
      'removePodSandbox',
    ]);
    expect(await describeRuntime(bench.runtime)).toEqual([]);
    expect([...bench.preparation.uids]).toEqual([]);
    expect(podlet.pods()).toEqual([]);
    await podlet.stop();
  });

  it('has a grace period that the runtime can count, however long it is meant to be', async () => {
    const recorder = recordCalls();
    const bench = createBench({ wrap: recorder.wrap });
    const podlet = bench.start();
    bench.file.say([aPod({ spec: { terminationGracePeriodSeconds: Number.MAX_SAFE_INTEGER } })]);
    await bench.clock.settle();
    bench.file.say([]);
    await bench.clock.settle();
    const stop = recorder.calls.find(({ method }) => method === 'stopContainer');
    expect(stop?.request.timeout).toBe(2_147_483_647n);
    await podlet.stop();
  });

  it('ends its sidecars last, in reverse order', async () => {
    const recorder = recordCalls();
    const bench = createBench({ wrap: recorder.wrap });
    const podlet = bench.start();
    const initContainers = ['first', 'second'].map((name) =>
      aContainer(name, { restartPolicy: 'Always' as const }),
    );
    bench.file.say([aPod({ spec: { initContainers, containers: [aContainer('a'), aContainer('b')] } })]);
    await bench.clock.settle();
    const names = new Map(
      podlet.view('uid-web')?.containers.map(({ containerID, name }) => [containerID, name]),
    );
    bench.file.say([]);
    await bench.clock.settle();
    const stopped = recorder.calls
      .filter(({ method }) => method === 'stopContainer')
      .map(({ request }) => names.get(String(request.containerId)));
    expect(stopped).toEqual(['a', 'b', 'second', 'first']);
    await podlet.stop();
  });

  it('has its hook called, whose time is part of the grace period', async () => {
    const recorder = recordCalls();
    const bench = createBench({ wrap: recorder.wrap });
    const granted: unknown[] = [];
    const podlet = bench.start({
      runHook: (_, { limit }, signal) => {
        granted.push(limit);
        return bench.clock.sleep(12 * second, signal);
      },
    });
    bench.file.say([aPod({ spec: { containers: [aContainer('main', { lifecycle: preStop })] } })]);
    await bench.clock.settle();
    bench.file.say([]);
    await bench.clock.advance(13 * second);
    const stop = recorder.calls.find(({ method }) => method === 'stopContainer');
    expect(stop?.request.timeout).toBe(18n);
    expect(granted).toEqual([30 * second]);
    await podlet.stop();
  });

  it('has 2 s left when its hook takes for ever', async () => {
    const recorder = recordCalls();
    const bench = createBench({ wrap: recorder.wrap });
    const podlet = bench.start({ runHook: (_, __, signal) => bench.clock.sleep(1_000 * second, signal) });
    const spec = {
      terminationGracePeriodSeconds: 10,
      containers: [aContainer('main', { lifecycle: preStop })],
    };
    bench.file.say([aPod({ spec })]);
    await bench.clock.settle();
    bench.file.say([]);
    await bench.clock.advance(11 * second);
    expect(recorder.calls.find(({ method }) => method === 'stopContainer')?.request.timeout).toBe(2n);
    expect(await describeRuntime(bench.runtime)).toEqual([]);
    await podlet.stop();
  });

  it('is tried again until everything is gone, and keeps its network while a container may run', async () => {
    const recorder = recordCalls();
    const bench = createBench({ wrap: recorder.wrap });
    const podlet = bench.start();
    bench.file.say([aPod()]);
    await bench.clock.settle();
    const takeBack = bench.runtime.fail('stopContainer', { how: 'refused' });
    recorder.calls.splice(0);
    bench.file.say([]);
    await bench.clock.advance(5 * second);
    expect(changing(recorder.calls)).toEqual(['stopContainer']);
    expect(podlet.view('uid-web')?.stage).toBe('terminating');
    takeBack();
    await bench.clock.advance(12 * second);
    expect(await describeRuntime(bench.runtime)).toEqual([]);
    await podlet.stop();
  });

  it('gives up a creation that hangs, and leaves nothing of it', async () => {
    const bench = createBench();
    const podlet = bench.start();
    bench.runtime.fail('runPodSandbox', { how: 'hangs', call: 1 });
    bench.file.say([aPod()]);
    await bench.clock.advance(second);
    bench.file.say([]);
    await bench.clock.settle();
    expect(podlet.pods()).toEqual([]);
    await podlet.stop();
  });

  it('and comes back with the same UID begins anew when it is gone', async () => {
    const bench = createBench();
    const podlet = bench.start();
    bench.file.say([aPod()]);
    await bench.clock.settle();
    const before = podlet.view('uid-web')?.sandboxId;
    bench.file.say([]);
    bench.file.say([aPod()]);
    await bench.clock.settle();
    expect(podlet.view('uid-web')).toMatchObject({ stage: 'running' });
    expect(podlet.view('uid-web')?.sandboxId).not.toBe(before);
    expect(await describeRuntime(bench.runtime)).toEqual(['uid-web ready main']);
    await podlet.stop();
  });

  it('lets the next of its name wait until it is gone', async () => {
    const bench = createBench();
    const podlet = bench.start();
    const stubborn = aContainer('main', { command: ['ignore-term'] });
    bench.file.say([aPod({ spec: { containers: [stubborn] } })]);
    await bench.clock.settle();
    bench.file.say([aPod({ uid: 'uid-next' })]);
    await bench.clock.advance(20 * second);
    expect(podlet.view('uid-web')?.stage).toBe('terminating');
    expect(podlet.view('uid-next')).toMatchObject({
      stage: 'waiting',
      events: [{ reason: 'WaitingForName' }],
    });
    await bench.clock.advance(12 * second);
    expect(await describeRuntime(bench.runtime)).toEqual(['uid-next ready main']);
    await podlet.stop();
  });
});

describe('a pod of the API that is being deleted', () => {
  it('gets the deletion’s grace period; its object may go when nothing is left', async () => {
    const recorder = recordCalls();
    const bench = createBench({ wrap: recorder.wrap, sources: ['api'] });
    const gone: [Pod, PodStatus][] = [];
    const podlet = bench.start({
      sink: {
        statusChanged: () => undefined,
        event: () => undefined,
        terminated: (pod, status) => void gone.push([pod, status]),
      },
    });
    bench.api.say([aPod()]);
    await bench.clock.settle();
    bench.api.say([aPod({ deleting: true })]);
    await bench.clock.settle();
    expect(recorder.calls.find(({ method }) => method === 'stopContainer')?.request.timeout).toBe(5n);
    expect(gone).toHaveLength(1);
    expect(gone[0]?.[1]).toMatchObject({ phase: 'Failed' });
    expect(await describeRuntime(bench.runtime)).toEqual([]);
    expect(podlet.view('uid-web')?.stage).toBe('terminated');
    bench.api.say([]);
    await bench.clock.settle();
    expect(podlet.pods()).toEqual([]);
    await podlet.stop();
  });

  it('and then at once is hurried', async () => {
    const bench = createBench({ sources: ['api'] });
    const podlet = bench.start();
    const spec = { containers: [aContainer('main', { command: ['ignore-term'] })] };
    bench.api.say([aPod({ spec })]);
    await bench.clock.settle();
    const slow = aPod({ deleting: true, spec });
    bench.api.say([{ ...slow, metadata: { ...slow.metadata, deletionGracePeriodSeconds: 600 } }]);
    await bench.clock.advance(10 * second);
    expect(podlet.view('uid-web')?.stage).toBe('terminating');
    bench.api.say([{ ...slow, metadata: { ...slow.metadata, deletionGracePeriodSeconds: 0 } }]);
    await bench.clock.advance(3 * second);
    expect(podlet.view('uid-web')?.stage).toBe('terminated');
    await podlet.stop();
  });

  it('before it ever began is gone at once', async () => {
    const bench = createBench({ sources: ['api'] });
    const podlet = bench.start();
    bench.api.say([aPod({ deleting: true })]);
    await bench.clock.settle();
    expect(podlet.view('uid-web')?.stage).toBe('terminated');
    expect(bench.runtime.counts.runPodSandbox).toBe(0);
    await podlet.stop();
  });
});

describe('StopPodSandbox', () => {
  it('is called for every sandbox of the pod, also for stopped ones', async () => {
    const recorder = recordCalls();
    const bench = createBench({ wrap: recorder.wrap });
    const podlet = bench.start();
    bench.file.say([aPod()]);
    await bench.clock.settle();
    const first = podlet.view('uid-web')?.sandboxId ?? '';
    bench.runtime.crashSandbox(first);
    await bench.clock.advance(2 * second);
    const latest = podlet.view('uid-web')?.sandboxId ?? '';
    recorder.calls.splice(0);
    bench.file.say([]);
    await bench.clock.settle();
    const stops = recorder.calls
      .filter(({ method }) => method === 'stopPodSandbox')
      .map(({ request }) => request.podSandboxId);
    expect(new Set(stops)).toEqual(new Set([first, latest]));
    await podlet.stop();
  });

  it('that fails is repeated, and nothing is removed before', async () => {
    const recorder = recordCalls();
    const bench = createBench({ wrap: recorder.wrap });
    const podlet = bench.start();
    bench.file.say([aPod()]);
    await bench.clock.settle();
    bench.runtime.fail('stopPodSandbox', {
      call: 1,
      how: 'refused',
      error: new CriError('UNKNOWN', 'cni: plugin not found'),
    });
    recorder.calls.splice(0);
    bench.file.say([]);
    await bench.clock.settle();
    expect(changing(recorder.calls)).toEqual(['stopContainer', 'stopPodSandbox']);
    const failed = podlet.view('uid-web')?.events.find(({ reason }) => reason === 'FailedKillPod');
    expect(failed?.message).toContain('cni: plugin not found');
    await bench.clock.advance(12 * second);
    expect(await describeRuntime(bench.runtime)).toEqual([]);
    await podlet.stop();
  });
});
