import { CriError } from '@podwire/cri';
import { describe, expect, it } from 'vitest';
import type { PodChange } from '../../src/server/api.js';
import { changing, recordCalls } from './calls.js';
import { createBench } from './fixture.js';
import { aContainer, aPod } from './pods.js';
import { describeRuntime } from './watchdog.js';

const second = 1_000;

describe('a pod that is wanted', () => {
  it('runs at once, without waiting for any interval', async () => {
    const bench = createBench();
    const podlet = bench.start();
    bench.file.say([aPod()]);
    await bench.clock.settle();
    const view = podlet.view('uid-web');
    expect(view).toMatchObject({ stage: 'running', name: 'web', namespace: 'default', source: 'file' });
    expect(view?.status).toMatchObject({ phase: 'Running', podIP: '10.0.0.1', hostIP: '192.0.2.1' });
    expect(view?.containers[0]).toMatchObject({ name: 'main', ready: true, restartCount: 0 });
    expect(view?.events.map(({ reason }) => reason)).toEqual(['Created', 'Started']);
    await podlet.stop();
  });

  it('starts its containers one after the other, after its init containers and sidecars', async () => {
    const recorder = recordCalls();
    const bench = createBench({ wrap: recorder.wrap });
    const podlet = bench.start();
    const initContainers = [
      aContainer('one', { command: ['exit', '0'] }),
      aContainer('proxy', { restartPolicy: 'Always' }),
      aContainer('two', { command: ['exit', '0'] }),
    ];
    bench.file.say([aPod({ spec: { initContainers, containers: [aContainer('a'), aContainer('b')] } })]);
    await bench.clock.advance(3 * second);
    const created = recorder.calls
      .filter(({ method }) => method === 'createContainer')
      .map(({ request }) => (request.config as { metadata: { name: string } }).metadata.name);
    expect(created).toEqual(['one', 'proxy', 'two', 'a', 'b']);
    expect(podlet.view('uid-web')?.status.phase).toBe('Running');
    await podlet.stop();
  });

  it('does not wait for the next listing when an init container is over', async () => {
    const bench = createBench({
      programOf: ({ command }) => (command[0] === 'init' ? { endsAfterMs: 120 } : {}),
    });
    const podlet = bench.start();
    const initContainers = ['one', 'two'].map((name) => aContainer(name, { command: ['init'] }));
    bench.file.say([aPod({ spec: { initContainers } })]);
    await bench.clock.advance(400);
    expect(podlet.view('uid-web')?.stage).toBe('running');
    await podlet.stop();
  });

  it('without its volumes is told of, and tried again', async () => {
    const bench = createBench();
    let isThere = false;
    const podlet = bench.start({
      preparation: {
        ...bench.preparation,
        prepare: (pod, signal) =>
          isThere ? bench.preparation.prepare(pod, signal) : Promise.reject(new Error('/data is not there')),
      },
    });
    bench.file.say([aPod()]);
    await bench.clock.settle();
    expect(podlet.view('uid-web')?.events).toMatchObject([
      { reason: 'FailedMount', message: 'volumes are not available: /data is not there' },
    ]);
    expect(bench.runtime.counts.runPodSandbox).toBe(0);
    isThere = true;
    await bench.clock.advance(11 * second);
    expect(podlet.view('uid-web')?.stage).toBe('running');
    await podlet.stop();
  });

  it('fails when it is active for longer than it may', async () => {
    const bench = createBench();
    const podlet = bench.start();
    bench.file.say([aPod({ spec: { activeDeadlineSeconds: 20 } })]);
    await bench.clock.advance(15 * second);
    expect(podlet.view('uid-web')?.status.phase).toBe('Running');
    await bench.clock.advance(10 * second);
    expect(podlet.view('uid-web')?.status).toMatchObject({ phase: 'Failed', reason: 'DeadlineExceeded' });
    expect(await describeRuntime(bench.runtime)).toEqual(['uid-web stopped']);
    await podlet.stop();
  });

  it('gets through a wall clock that is set back', async () => {
    const bench = createBench();
    const podlet = bench.start();
    const failing = aPod({
      name: 'failing',
      spec: { containers: [aContainer('main', { command: ['exit', '1'] })] },
    });
    bench.file.say([aPod(), failing]);
    await bench.clock.advance(5 * second);
    const restarts = () => podlet.view('uid-failing')?.containers[0]?.restartCount ?? 0;
    const before = restarts();
    bench.clock.jump(-3_600 * second);
    bench.runtime.crash(podlet.view('uid-web')?.containers[0]?.containerID ?? '');
    await bench.clock.advance(30 * second);
    expect(podlet.view('uid-web')?.containers[0]).toMatchObject({ restartCount: 1, state: { running: {} } });
    expect(restarts()).toBeGreaterThan(before);
    const created = bench.runtime.counts.runPodSandbox;
    bench.runtime.crashSandbox(podlet.view('uid-web')?.sandboxId ?? '');
    await bench.clock.advance(30 * second);
    expect(podlet.view('uid-web')?.containers[0]?.state.running).toBeDefined();
    expect(bench.runtime.counts.runPodSandbox - created).toBe(1);
    await podlet.stop();
  });

  it('whose containers end is started again with growing pauses', async () => {
    const starts: number[] = [];
    const bench = createBench({
      onCall: (method) => {
        if (method === 'startContainer') starts.push(Math.round(bench.clock.elapsed() / second));
      },
    });
    const podlet = bench.start();
    bench.file.say([aPod({ spec: { containers: [aContainer('main', { command: ['exit', '1'] })] } })]);
    await bench.clock.advance(400 * second);
    const pauses = starts.slice(1).map((at, index) => at - (starts[index] ?? 0));
    expect(pauses[0]).toBeLessThanOrEqual(2);
    expect(pauses.slice(1, 5).map((pause) => Math.round(pause / 10) * 10)).toEqual([10, 20, 40, 80]);
    const [container] = podlet.view('uid-web')?.containers ?? [];
    expect(container?.state.waiting?.reason).toBe('CrashLoopBackOff');
    expect(container?.lastState.terminated).toMatchObject({ exitCode: 1 });
    await podlet.stop();
  });

  it('that has no image waits with growing pauses and says so', async () => {
    const bench = createBench({ registry: () => false });
    const podlet = bench.start();
    bench.file.say([aPod()]);
    await bench.clock.settle();
    expect(podlet.view('uid-web')?.containers[0]?.state.waiting?.reason).toBe('ErrImagePull');
    await bench.clock.advance(5 * second);
    const pulls = bench.runtime.counts.pullImage;
    expect(pulls).toBe(1);
    await bench.clock.advance(6 * second);
    expect(bench.runtime.counts.pullImage).toBe(2);
    await bench.clock.advance(15 * second);
    expect(bench.runtime.counts.pullImage).toBe(2);
    expect(podlet.view('uid-web')?.containers[0]?.state.waiting?.reason).toBe('ImagePullBackOff');
    await podlet.stop();
  });

  it('and ends is left as it is, with its sandbox stopped', async () => {
    const bench = createBench();
    const podlet = bench.start();
    const main = aContainer('main', { command: ['exit', '0'] });
    bench.preparation.terminationMessages.set('uid-web/main/0', 'done');
    bench.file.say([aPod({ spec: { restartPolicy: 'OnFailure', containers: [main] } })]);
    await bench.clock.advance(3 * second);
    const view = podlet.view('uid-web');
    expect(view).toMatchObject({ stage: 'terminated', status: { phase: 'Succeeded' } });
    expect(view?.containers[0]?.state.terminated).toMatchObject({ reason: 'Completed', message: 'done' });
    const stops = bench.runtime.counts.stopPodSandbox;
    await bench.clock.advance(300 * second);
    expect(bench.runtime.counts.stopPodSandbox).toBe(stops);
    expect(await describeRuntime(bench.runtime)).toEqual(['uid-web stopped']);
    await podlet.stop();
  });
});

it('says which name servers had to be left out of resolv.conf', async () => {
  const bench = createBench();
  const podlet = bench.start();
  const nameservers = ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4'];
  bench.file.say([
    aPod({ spec: { dnsPolicy: 'None', dnsConfig: { nameservers, searches: [], options: [] } } }),
  ]);
  await bench.clock.settle();
  const told = podlet.view('uid-web')?.events.find(({ reason }) => reason === 'DNSConfigForming');
  expect(told).toMatchObject({ type: 'Warning', message: expect.stringContaining('192.0.2.4') as string });
  await podlet.stop();
});

describe('when the network is not ready', () => {
  it('pods are tried again every second, pods on the node’s network run', async () => {
    const bench = createBench();
    bench.runtime.setConditions({ networkReady: false });
    const podlet = bench.start();
    bench.file.say([aPod(), aPod({ name: 'host', spec: { hostNetwork: true } })]);
    await bench.clock.advance(3 * second);
    expect(podlet.view('uid-host')?.status).toMatchObject({ phase: 'Running', podIP: '192.0.2.1' });
    const view = podlet.view('uid-web');
    expect(view?.events.find(({ reason }) => reason === 'NetworkNotReady')?.count).toBeGreaterThan(2);
    const condition = view?.status.conditions.find(({ type }) => type === 'PodReadyToStartContainers');
    expect(condition).toMatchObject({ status: 'False', reason: 'NetworkNotReady' });
    bench.runtime.setConditions({ networkReady: true });
    await bench.clock.advance(3 * second);
    expect(podlet.view('uid-web')?.status.phase).toBe('Running');
    await podlet.stop();
  });

  it.each([
    ['network is not ready: cni plugin not initialized', 1],
    ['something else', 10],
  ])('by the runtime’s word %s: the pause is %i s', async (message, pause) => {
    const bench = createBench();
    const podlet = bench.start();
    bench.runtime.fail('runPodSandbox', { how: 'refused', error: new CriError('UNKNOWN', message) });
    bench.file.say([aPod()]);
    await bench.clock.settle();
    expect(bench.runtime.counts.runPodSandbox).toBe(1);
    await bench.clock.advance(pause * second * 0.5);
    expect(bench.runtime.counts.runPodSandbox).toBe(1);
    await bench.clock.advance(pause * second * 0.5 + 0.4 * second);
    expect(bench.runtime.counts.runPodSandbox).toBe(2);
    expect(podlet.view('uid-web')?.events[0]).toMatchObject({ reason: 'FailedCreatePodSandBox', count: 2 });
    expect(podlet.view('uid-web')?.events[0]?.message).toContain(message);
    await podlet.stop();
  });
});

describe('a sandbox', () => {
  it('that dies is replaced, and the old one stopped first', async () => {
    const recorder = recordCalls();
    const bench = createBench({ wrap: recorder.wrap });
    const podlet = bench.start();
    bench.file.say([aPod()]);
    await bench.clock.settle();
    bench.runtime.crashSandbox(podlet.view('uid-web')?.sandboxId ?? '');
    recorder.calls.splice(0);
    await bench.clock.advance(2 * second);
    expect(changing(recorder.calls)).toEqual([
      'stopPodSandbox',
      'runPodSandbox',
      'createContainer',
      'startContainer',
    ]);
    expect(podlet.view('uid-web')?.status).toMatchObject({ phase: 'Running', podIP: '10.0.0.2' });
    expect(podlet.view('uid-web')?.containers[0]?.restartCount).toBe(1);
    await podlet.stop();
  });

  it('whose address is taken away is replaced after the next look', async () => {
    const bench = createBench();
    const podlet = bench.start();
    bench.file.say([aPod()]);
    await bench.clock.settle();
    bench.addresses.get('uid-web/0')?.splice(0);
    await bench.clock.advance(92 * second);
    expect(podlet.view('uid-web')?.status.podIP).toBe('10.0.0.2');
    await podlet.stop();
  });

  it('that another client removes is stopped once more, for its network', async () => {
    const recorder = recordCalls();
    const bench = createBench({ wrap: recorder.wrap });
    const podlet = bench.start();
    bench.file.say([aPod()]);
    await bench.clock.settle();
    const id = podlet.view('uid-web')?.sandboxId ?? '';
    await bench.runtime.removePodSandbox({ podSandboxId: id });
    await bench.clock.advance(2 * second);
    const stops = recorder.calls.filter(
      ({ method, request }) => method === 'stopPodSandbox' && request.podSandboxId === id,
    );
    expect(stops.length).toBeGreaterThan(0);
    expect(podlet.view('uid-web')?.status.phase).toBe('Running');
    await podlet.stop();
  });

  it('that came to be although its call failed is used', async () => {
    const bench = createBench();
    const podlet = bench.start();
    bench.runtime.fail('runPodSandbox', {
      call: 1,
      how: 'answer lost',
      error: new CriError('DEADLINE_EXCEEDED', 'too late'),
    });
    bench.file.say([aPod()]);
    await bench.clock.settle();
    expect(podlet.view('uid-web')?.status.phase).toBe('Running');
    expect(bench.runtime.counts.runPodSandbox).toBe(1);
    await podlet.stop();
  });

  it('whose name stays reserved for ever gets another number', async () => {
    const bench = createBench();
    const attempts: number[] = [];
    const reserved = new CriError(
      'UNKNOWN',
      'failed to reserve sandbox name "web_0": name "web_0" is reserved for "abc"',
    );
    const podlet = bench.start({
      runtime: {
        ...bench.runtime,
        runPodSandbox: (request, options) => {
          attempts.push(request.config?.metadata?.attempt ?? -1);
          return request.config?.metadata?.attempt === 0
            ? Promise.reject(reserved)
            : bench.runtime.runPodSandbox(request, options);
        },
      },
    });
    bench.file.say([aPod()]);
    await bench.clock.advance(60 * second);
    expect(attempts).toEqual([0, 0, 0, 0, 0, 1]);
    expect(podlet.view('uid-web')?.status.phase).toBe('Running');
    await podlet.stop();
  });

  it('is not created for more than so many pods at once', async () => {
    let now = 0;
    let most = 0;
    const bench = createBench();
    const podlet = bench.start(
      {
        runtime: {
          ...bench.runtime,
          runPodSandbox: async (request, options) => {
            most = Math.max(most, (now += 1));
            await bench.clock.sleep(300, new AbortController().signal);
            now -= 1;
            return bench.runtime.runPodSandbox(request, options);
          },
        },
      },
      { concurrentSandboxes: 4 },
    );
    bench.file.say(Array.from({ length: 12 }, (_, index) => aPod({ name: `p${index}` })));
    await bench.clock.advance(second);
    expect(most).toBe(4);
    expect(podlet.pods().filter(({ stage }) => stage === 'running')).toHaveLength(12);
    await podlet.stop();
  });
});

describe('listeners', () => {
  it('are told everything first, then what changes, then that it is gone', async () => {
    const bench = createBench();
    const podlet = bench.start();
    const changes: PodChange[] = [];
    const leave = podlet.subscribe((change) => changes.push(change));
    expect(changes[0]).toEqual({ kind: 'all', pods: [], problems: [] });
    const problem = { source: 'file' as const, origin: '/pods/bad.yaml', message: 'not YAML' };
    bench.file.say([aPod()], { problems: [problem] });
    await bench.clock.settle();
    bench.file.say([]);
    await bench.clock.settle();
    const stages = changes.flatMap((change) => (change.kind === 'pod' ? [change.pod.stage] : []));
    expect([...new Set(stages)]).toEqual(['waiting', 'starting', 'running', 'terminating', 'terminated']);
    expect(changes.at(-1)).toEqual({ kind: 'gone', uid: 'uid-web', namespace: 'default', name: 'web' });
    expect(changes).toContainEqual({ kind: 'problems', problems: [problem] });
    leave();
    const told = changes.length;
    bench.file.say([aPod()]);
    await bench.clock.settle();
    expect(changes).toHaveLength(told);
    await podlet.stop();
  });
});

describe('the trace of a pod', () => {
  it('goes from its cause to its readiness, and travels with the calls', async () => {
    const bench = createBench();
    let traceparent: string | undefined;
    const podlet = bench.start({
      runtime: {
        ...bench.runtime,
        runPodSandbox: (request, options) => {
          traceparent = options?.traceparent;
          return bench.runtime.runPodSandbox(request, options);
        },
      },
    });
    const causedAt = bench.clock.now() - 20;
    bench.file.say([aPod()], { causedAt });
    await bench.clock.settle();
    const spans = podlet.trace('uid-web');
    const root = spans.find(({ parentId }) => parentId === undefined);
    expect(root).toMatchObject({ name: 'pod default/web', startedAt: causedAt });
    expect(root?.duration).toBeGreaterThanOrEqual(20);
    const names = spans.map(({ name }) => name);
    for (const name of [
      'source',
      'merge',
      'wait for worker',
      'prepare volumes',
      'wait for a slot',
      'RunPodSandbox',
      'EnsureImage',
      'CreateContainer',
      'StartContainer',
    ]) {
      expect(names).toContain(name);
    }
    expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(
      new Set([podlet.view('uid-web')?.trace?.traceId]),
    );
    const run = spans.find(({ name }) => name === 'RunPodSandbox');
    expect(traceparent).toBe(`00-${run?.traceId}-${run?.spanId}-01`);
    await podlet.stop();
  });
});
