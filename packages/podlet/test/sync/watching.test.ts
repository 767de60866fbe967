import { CriError } from '@podwire/cri';
import { describe, expect, it } from 'vitest';
import type { Probe } from '@podwire/pod-spec';
import { recordCalls } from './calls.js';
import { createBench } from './fixture.js';
import { aContainer, aPod } from './pods.js';

const second = 1_000;

describe('listings', () => {
  it('find what has changed, once a second, and ask for that only', async () => {
    const bench = createBench();
    const podlet = bench.start();
    bench.file.say(Array.from({ length: 20 }, (_, index) => aPod({ name: `p${index}` })));
    await bench.clock.settle();
    const before = { ...bench.runtime.counts };
    await bench.clock.advance(10 * second);
    expect(bench.runtime.counts.listContainers - before.listContainers).toBe(10);
    expect(bench.runtime.counts.containerStatus).toBe(before.containerStatus);
    expect(bench.runtime.counts.podSandboxStatus).toBe(before.podSandboxStatus);
    bench.runtime.crash(podlet.view('uid-p7')?.containers[0]?.containerID ?? '');
    await bench.clock.advance(1.1 * second);
    expect(podlet.view('uid-p7')?.containers[0]?.restartCount).toBe(1);
    await podlet.stop();
  });

  it('whose questions fail find the change again', async () => {
    const bench = createBench();
    const podlet = bench.start();
    bench.file.say([aPod()]);
    await bench.clock.settle();
    const takeBack = bench.runtime.fail('containerStatus', { how: 'refused' });
    bench.runtime.crash(podlet.view('uid-web')?.containers[0]?.containerID ?? '');
    await bench.clock.advance(5 * second);
    expect(podlet.view('uid-web')?.containers[0]?.state.running).toBeDefined();
    takeBack();
    await bench.clock.advance(2 * second);
    expect(podlet.view('uid-web')?.containers[0]?.restartCount).toBe(1);
    await podlet.stop();
  });

  it('do not wait for the clean-up of a sandbox that was removed', async () => {
    const bench = createBench();
    const podlet = bench.start();
    bench.file.say([aPod(), aPod({ name: 'other' })]);
    await bench.clock.advance(3 * second);
    bench.runtime.fail('stopPodSandbox', { how: 'hangs' });
    await bench.runtime.removePodSandbox({ podSandboxId: podlet.view('uid-web')?.sandboxId ?? '' });
    await bench.clock.advance(2 * second);
    bench.runtime.crash(podlet.view('uid-other')?.containers[0]?.containerID ?? '');
    await bench.clock.advance(2 * second);
    expect(podlet.view('uid-other')?.containers[0]?.restartCount).toBe(1);
    await podlet.stop();
  });

  it('become rare while events flow, which are acted on at once', async () => {
    const bench = createBench({ hasEvents: true });
    const podlet = bench.start();
    bench.file.say([aPod()]);
    await bench.clock.advance(2 * second);
    const before = bench.runtime.counts.listContainers;
    await bench.clock.advance(60 * second);
    expect(bench.runtime.counts.listContainers - before).toBeLessThanOrEqual(7);
    bench.runtime.crash(podlet.view('uid-web')?.containers[0]?.containerID ?? '');
    await bench.clock.settle();
    expect(podlet.view('uid-web')?.containers[0]).toMatchObject({ restartCount: 1, state: { running: {} } });
    await podlet.stop();
  });

  it('go on every second where there are no events', async () => {
    const bench = createBench({ hasEvents: false });
    const podlet = bench.start();
    await bench.clock.advance(30 * second);
    expect(bench.runtime.counts.getContainerEvents).toBe(1);
    expect(bench.runtime.counts.listContainers).toBeGreaterThan(28);
    await podlet.stop();
  });
});

describe('a runtime that does not answer', () => {
  it('is waited for, and nothing is begun', async () => {
    const bench = createBench();
    const takeBack = bench.runtime.fail('status', {
      how: 'refused',
      error: new CriError('UNAVAILABLE', 'no socket'),
    });
    const podlet = bench.start();
    bench.file.say([aPod()]);
    await bench.clock.advance(20 * second);
    expect(bench.runtime.counts.runPodSandbox).toBe(0);
    expect(podlet.problem()).toContain('no socket');
    expect(podlet.view('uid-web')?.stage).toBe('waiting');
    takeBack();
    await bench.clock.advance(6 * second);
    expect(podlet.problem()).toBeUndefined();
    expect(podlet.view('uid-web')?.stage).toBe('running');
    await podlet.stop();
  });

  it('for less than half a minute changes nothing', async () => {
    const bench = createBench();
    const podlet = bench.start();
    bench.file.say([]);
    await bench.clock.settle();
    const takeBack = bench.runtime.fail('status', { how: 'refused' });
    await bench.clock.advance(20 * second);
    expect(podlet.problem()).toBeUndefined();
    await bench.clock.advance(20 * second);
    expect(podlet.problem()).toBeDefined();
    takeBack();
    await bench.clock.advance(6 * second);
    expect(podlet.problem()).toBeUndefined();
    await podlet.stop();
  });

  it('for a while, and then does, finds no pod waiting any longer', async () => {
    let latency = 0;
    const bench = createBench({ latency: (method) => (method === 'status' ? latency : 0) });
    const podlet = bench.start();
    await bench.clock.advance(2 * second);
    latency = 45 * second;
    await bench.clock.advance(40 * second);
    expect(podlet.problem()).toBeDefined();
    bench.file.say([aPod()]);
    latency = 0;
    await bench.clock.advance(20 * second);
    expect(podlet.problem()).toBeUndefined();
    expect(podlet.view('uid-web')?.stage).toBe('running');
    await podlet.stop();
  });

  it('or is not ready says why', async () => {
    const bench = createBench();
    bench.runtime.setConditions({ runtimeReady: false });
    const podlet = bench.start();
    await bench.clock.advance(second);
    expect(podlet.problem()).toBe('RuntimeNotReady: the test has said so');
    await podlet.stop();
  });

  it('to listings for three minutes stops the loop', async () => {
    const bench = createBench();
    const podlet = bench.start();
    await bench.clock.settle();
    bench.runtime.fail('listPodSandbox', { how: 'refused' });
    await bench.clock.advance(170 * second);
    expect(podlet.problem()).toBeUndefined();
    await bench.clock.advance(20 * second);
    expect(podlet.problem()).toMatch(/latest listing is \d+ s old/);
    await podlet.stop();
  });
});

describe('probes', () => {
  const probe: Probe = {
    initialDelaySeconds: 0,
    periodSeconds: 1,
    timeoutSeconds: 1,
    successThreshold: 1,
    failureThreshold: 1,
  };
  const main = aContainer('main', {
    startupProbe: probe,
    livenessProbe: { ...probe, terminationGracePeriodSeconds: 3 },
    readinessProbe: probe,
  });

  it('begin with the startup probe, the others after it; a failure restarts the container', async () => {
    const bench = createBench();
    let onChange: (
      uid: string,
      name: string,
      kind: 'liveness' | 'startup' | 'readiness',
      success: boolean,
      why: string,
    ) => void = () => undefined;
    const timeouts: unknown[] = [];
    const podlet = bench.start({
      runtime: {
        ...bench.runtime,
        stopContainer: (request, options) => {
          timeouts.push(request.timeout);
          return bench.runtime.stopContainer(request, options);
        },
      },
      createProber: (options) => {
        onChange = options.onChange;
        return bench.prober;
      },
    });
    const tell = async (kind: 'liveness' | 'startup' | 'readiness', success: boolean) => {
      bench.prober.set('uid-web', 'main', kind, success);
      onChange('uid-web', 'main', kind, success, 'because');
      await bench.clock.settle();
    };
    bench.file.say([aPod({ spec: { containers: [main] } })]);
    await bench.clock.settle();
    expect([...bench.prober.targets.keys()]).toEqual(['uid-web/main/startup']);
    await tell('startup', true);
    expect([...bench.prober.targets.keys()].sort()).toEqual([
      'uid-web/main/liveness',
      'uid-web/main/readiness',
      'uid-web/main/startup',
    ]);
    expect(podlet.view('uid-web')?.containers[0]).toMatchObject({ started: true, ready: false });
    await tell('readiness', true);
    expect(podlet.view('uid-web')?.containers[0]).toMatchObject({ ready: true });
    await tell('liveness', false);
    expect(podlet.view('uid-web')?.containers[0]).toMatchObject({
      restartCount: 1,
      started: false,
      ready: false,
    });
    expect(timeouts).toEqual([3n]);
    const events = podlet.view('uid-web')?.events.map(({ reason, message }) => `${reason}: ${message}`);
    expect(events).toContain('Unhealthy: Liveness probe of container main failed: because');
    expect(events).toContain('Killing: Container main failed liveness probe');
    bench.file.say([]);
    await bench.clock.settle();
    expect(bench.prober.targets.size).toBe(0);
    await podlet.stop();
  });

  it('of an instance that has ended by itself do not count for the next one', async () => {
    const bench = createBench();
    const podlet = bench.start({ runHook: (_, __, signal) => bench.clock.sleep(5 * second, signal) });
    const lifecycle = { postStart: { exec: { command: ['warm-up'] } } };
    const slow = aContainer('main', { readinessProbe: probe, lifecycle });
    bench.file.say([aPod({ spec: { containers: [slow] } })]);
    await bench.clock.advance(7 * second);
    bench.prober.set('uid-web', 'main', 'readiness', true);
    bench.runtime.crash(podlet.view('uid-web')?.containers[0]?.containerID ?? '');
    await bench.clock.advance(2 * second);
    expect(podlet.view('uid-web')?.containers[0]).toMatchObject({
      restartCount: 1,
      state: { running: {} },
      ready: false,
    });
    await podlet.stop();
  });
});

describe('a postStart hook', () => {
  it('that fails ends its container, and is told', async () => {
    const bench = createBench();
    const lifecycle = { postStart: { exec: { command: ['register'] } } };
    const podlet = bench.start({ runHook: () => Promise.reject(new Error('exit code 3')) });
    const reasons: (string | undefined)[] = [];
    podlet.subscribe((change) => {
      if (change.kind === 'pod') reasons.push(change.pod.containers[0]?.state.waiting?.reason);
    });
    bench.file.say([aPod({ spec: { containers: [aContainer('main', { lifecycle })] } })]);
    await bench.clock.settle();
    const view = podlet.view('uid-web');
    expect(view?.events.find(({ reason }) => reason === 'FailedPostStartHook')?.message).toContain(
      'exit code 3',
    );
    expect(view?.containers[0]?.state.running).toBeUndefined();
    expect(reasons).toContain('PostStartHookError');
    await podlet.stop();
  });

  it('that fails leaves its container the preStop hook and the grace period, each time', async () => {
    const recorder = recordCalls();
    const bench = createBench({ wrap: recorder.wrap });
    const action = (word: string) => ({ exec: { command: [word] } });
    const lifecycle = { postStart: action('register'), preStop: action('drain') };
    const hooks: (readonly [string | undefined, number | undefined])[] = [];
    const podlet = bench.start({
      runHook: (hook, { limit }) => {
        hooks.push([hook.exec?.command[0], limit]);
        return hook.exec?.command[0] === 'register'
          ? Promise.reject(new Error('exit code 3'))
          : bench.clock.sleep(2 * second, new AbortController().signal);
      },
    });
    const containers = [aContainer('main', { lifecycle })];
    bench.file.say([aPod({ spec: { containers, terminationGracePeriodSeconds: 6 } })]);
    await bench.clock.advance(5 * second);
    const stops = () =>
      recorder.calls
        .filter(({ method }) => method === 'stopContainer')
        .map(({ request }) => request['timeout']);
    const once = [
      ['register', undefined],
      ['drain', 6 * second],
    ];
    expect(hooks).toEqual([...once, ...once]);
    expect(stops()).toEqual([4n, 4n]);
    await bench.clock.advance(4 * second);
    expect(podlet.view('uid-web')?.containers[0]?.state.waiting).toMatchObject({
      reason: 'CrashLoopBackOff',
    });
    await podlet.stop();
  });

  it('that is interrupted since the pod goes is no failure', async () => {
    const bench = createBench();
    const lifecycle = { postStart: { exec: { command: ['register'] } } };
    const podlet = bench.start({ runHook: (_, __, signal) => bench.clock.sleep(3600 * second, signal) });
    bench.file.say([aPod({ spec: { containers: [aContainer('main', { lifecycle })] } })]);
    await bench.clock.settle();
    const reasons: string[] = [];
    podlet.subscribe((change) => {
      if (change.kind === 'pod') reasons.push(...change.pod.events.map(({ reason }) => reason));
    });
    bench.file.say([]);
    await bench.clock.settle();
    expect(podlet.pods()).toEqual([]);
    expect(reasons).not.toContain('FailedPostStartHook');
    await podlet.stop();
  });
});

describe('garbage', () => {
  it('of containers is collected every minute, but for the latest of each', async () => {
    const bench = createBench();
    const podlet = bench.start();
    bench.file.say([aPod({ spec: { containers: [aContainer('main', { command: ['exit', '1'] })] } })]);
    await bench.clock.advance(61 * second);
    const { containers } = await bench.runtime.listContainers({});
    expect(containers.length).toBeLessThanOrEqual(2);
    expect(bench.runtime.counts.createContainer).toBeGreaterThan(3);
    await podlet.stop();
  });

  it('of sandboxes is collected although the pod never comes up', async () => {
    const bench = createBench();
    const podlet = bench.start({
      runtime: {
        ...bench.runtime,
        runPodSandbox: async (request, options) => {
          const { podSandboxId } = await bench.runtime.runPodSandbox(request, options);
          await bench.runtime.stopPodSandbox({ podSandboxId });
          throw new CriError('UNKNOWN', 'cni: no address is left');
        },
      },
    });
    bench.file.say([aPod()]);
    await bench.clock.advance(600 * second);
    expect(bench.runtime.counts.runPodSandbox).toBeGreaterThan(50);
    expect((await bench.runtime.listPodSandbox({})).items.length).toBeLessThan(10);
    await podlet.stop();
  });

  it('of directories is collected although one cannot be removed', async () => {
    const bench = createBench();
    bench.preparation.uids.add('busy').add('free');
    const podlet = bench.start({
      preparation: {
        ...bench.preparation,
        discard: (uid) =>
          uid === 'busy' ? Promise.reject(new Error('still mounted')) : bench.preparation.discard(uid),
      },
    });
    bench.file.say([]);
    await bench.clock.advance(61 * second);
    expect([...bench.preparation.uids]).toEqual(['busy']);
    await podlet.stop();
  });

  it('of directories is collected when all sources have spoken', async () => {
    const bench = createBench({ sources: ['file', 'api'] });
    bench.preparation.uids.add('left-over');
    const podlet = bench.start();
    bench.file.say([]);
    await bench.clock.advance(130 * second);
    expect([...bench.preparation.uids]).toEqual(['left-over']);
    bench.api.say([]);
    await bench.clock.advance(61 * second);
    expect([...bench.preparation.uids]).toEqual([]);
    await podlet.stop();
  });
});
