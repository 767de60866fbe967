/** Pods that people stop, remove and restart by name, from the source to the runtime. */
import { localAnnotations, type Pod } from '@podwire/pod-spec';
import { expect, it } from 'vitest';
import { HeldPods, type Hold } from '../../src/sources/held-pods.js';
import { type Bench, createBench } from './fixture.js';
import { aContainer, aPod, type PodOptions } from './pods.js';

const second = 1_000;
const origin = '/pods/web.yaml';
const web = { namespace: 'default', name: 'web', origin };

function fromFile(options: PodOptions = {}): Pod {
  const pod = aPod(options);
  return { ...pod, metadata: { ...pod.metadata, annotations: { [localAnnotations.origin]: origin } } };
}

function begin(
  bench: Bench,
  held = new HeldPods(
    [],
    () => undefined,
    () => 0,
  ),
) {
  const podlet = bench.start({ sources: [held.filter(bench.file)] });
  const running = (): string[] => {
    const { containerStatuses = [] } = podlet.view('uid-web')?.status ?? {};
    return containerStatuses.filter(({ state }) => state.running !== undefined).map(({ name }) => name);
  };
  return { podlet, held, running };
}

it('a pod that is stopped ends, is still known with its logs, and stays so when its manifest is read again', async () => {
  const bench = createBench();
  const { podlet, held, running } = begin(bench);
  bench.file.say([fromFile()]);
  await bench.clock.settle();
  expect(running()).toEqual(['main']);
  held.hold(web, 'stopped');
  await bench.clock.advance(40 * second);
  expect(running()).toEqual([]);
  const view = podlet.view('uid-web');
  expect(view?.status).toMatchObject({ phase: 'Failed', reason: 'Stopped' });
  expect(view?.containers[0]?.logPath).toBeDefined();
  bench.file.say([fromFile({ spec: { terminationGracePeriodSeconds: 1 } })]);
  await bench.clock.advance(40 * second);
  expect(running()).toEqual([]);
  await podlet.stop();
});

it('a pod agent that starts anew leaves a stopped pod stopped, also one that it never saw', async () => {
  const bench = createBench();
  const saved: Hold[][] = [];
  const first = begin(
    bench,
    new HeldPods(
      [],
      (all) => void saved.push([...all]),
      () => 0,
    ),
  );
  bench.file.say([fromFile()]);
  await bench.clock.settle();
  first.held.hold(web, 'stopped');
  await bench.clock.advance(40 * second);
  await first.podlet.stop();
  const next = begin(
    bench,
    new HeldPods(
      saved.at(-1)!,
      () => undefined,
      () => 0,
    ),
  );
  await bench.clock.advance(10 * second);
  expect(next.running()).toEqual([]);
  expect(next.podlet.view('uid-web')?.status.reason).toBe('Stopped');
  expect(bench.runtime.counts.runPodSandbox).toBe(1);
  await next.podlet.stop();
});

it.each(['Always', 'OnFailure', 'Never'] as const)(
  'a stopped pod begins anew when it is let go, with restartPolicy %s',
  async (restartPolicy) => {
    const bench = createBench();
    const { podlet, held, running } = begin(bench);
    bench.file.say([fromFile({ spec: { restartPolicy } })]);
    await bench.clock.settle();
    held.hold(web, 'stopped');
    await bench.clock.advance(40 * second);
    held.release(({ name }) => name === 'web');
    await bench.clock.advance(5 * second);
    expect(running()).toEqual(['main']);
    expect(podlet.view('uid-web')?.status).toMatchObject({ phase: 'Running' });
    expect(podlet.view('uid-web')?.status.reason).toBeUndefined();
    await podlet.stop();
  },
);

it('a pod that is removed goes, the other one of its manifest stays', async () => {
  const bench = createBench();
  const { podlet, held } = begin(bench);
  const pods = [fromFile(), fromFile({ name: 'api' })];
  bench.file.say(pods);
  await bench.clock.settle();
  held.hold(web, 'removed');
  await bench.clock.advance(40 * second);
  expect(podlet.pods().map(({ name }) => name)).toEqual(['api']);
  bench.file.say(pods, { incomplete: true });
  await bench.clock.advance(5 * second);
  expect(podlet.pods().map(({ name }) => name)).toEqual(['api']);
  held.release(() => true);
  await bench.clock.advance(5 * second);
  expect(podlet.view('uid-web')?.status.phase).toBe('Running');
  await podlet.stop();
});

it('the annotation of a stopped pod in a manifest stops nothing', async () => {
  const bench = createBench();
  const { podlet, running } = begin(bench);
  const pod = fromFile();
  const annotations = { ...pod.metadata.annotations, 'podwire.io/stopped': 'x' };
  bench.file.say([{ ...pod, metadata: { ...pod.metadata, annotations } }]);
  await bench.clock.settle();
  expect(running()).toEqual(['main']);
  await podlet.stop();
});

it.each(['Always', 'OnFailure', 'Never'] as const)(
  'restart starts the named container anew in the same sandbox, with restartPolicy %s',
  async (restartPolicy) => {
    const bench = createBench();
    const { podlet, running } = begin(bench);
    bench.file.say([fromFile({ spec: { restartPolicy, containers: [aContainer('a'), aContainer('b')] } })]);
    await bench.clock.settle();
    const before = podlet.view('uid-web')!;
    podlet.restart('uid-web', ['b']);
    await bench.clock.advance(35 * second);
    expect(running()).toEqual(['a', 'b']);
    const { containers, sandboxId, status } = podlet.view('uid-web')!;
    expect(containers.map(({ restartCount }) => restartCount)).toEqual([0, 1]);
    expect([sandboxId, status.podIPs]).toEqual([before.sandboxId, before.status.podIPs]);
    expect(bench.runtime.counts.runPodSandbox).toBe(1);
    await podlet.stop();
  },
);

it('restart does not wait for the pause after failures, and a pod that is over begins anew', async () => {
  const bench = createBench({
    programOf: ({ command }) => (command[0] === 'brief' ? { endsAfterMs: 1_000 } : {}),
  });
  const { podlet } = begin(bench);
  bench.file.say([fromFile({ spec: { containers: [aContainer('main', { command: ['brief'] })] } })]);
  await bench.clock.advance(30 * second);
  const count = (): number => podlet.view('uid-web')!.containers[0]!.restartCount;
  const before = count();
  expect(podlet.view('uid-web')?.containers[0]?.state.waiting?.reason).toBe('CrashLoopBackOff');
  podlet.restart('uid-web', ['main']);
  await bench.clock.advance(500);
  expect(count()).toBe(before + 1);
  await podlet.stop();
});

it('restart of a pod that has succeeded runs it once more', async () => {
  const bench = createBench({ programOf: () => ({ endsAfterMs: 1_000 }) });
  const { podlet } = begin(bench);
  bench.file.say([fromFile({ spec: { restartPolicy: 'Never' } })]);
  await bench.clock.advance(5 * second);
  expect(podlet.view('uid-web')?.status.phase).toMatch(/Succeeded|Failed/);
  podlet.restart('uid-web', ['main']);
  await bench.clock.advance(500);
  expect(podlet.view('uid-web')?.status.phase).toBe('Running');
  await podlet.stop();
});
