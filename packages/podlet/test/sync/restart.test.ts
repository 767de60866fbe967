import { describe, expect, it } from 'vitest';
import { changing, recordCalls } from './calls.js';
import { createBench } from './fixture.js';
import { createLife } from './mortal.js';
import { aContainer, aPod } from './pods.js';
import { createWatchdog, describeRuntime } from './watchdog.js';

const second = 1_000;

describe('a podlet that is started again', () => {
  it('adopts what runs, and touches nothing', async () => {
    const recorder = recordCalls();
    const bench = createBench({ wrap: recorder.wrap });
    bench.file.say([
      aPod(),
      aPod({
        name: 'job',
        spec: { restartPolicy: 'Never', containers: [aContainer('main', { command: ['exit', '4'] })] },
      }),
    ]);
    const first = bench.start();
    await bench.clock.advance(3 * second);
    await first.stop();
    expect(await describeRuntime(bench.runtime)).toEqual(['uid-job stopped', 'uid-web ready main']);
    recorder.calls.splice(0);
    const next = bench.start();
    await bench.clock.advance(120 * second);
    // The job’s sandbox is stopped once more by each life: it is unknown how far the last one came.
    expect(changing(recorder.calls)).toEqual(['stopPodSandbox']);
    expect(next.view('uid-web')?.status).toMatchObject({ phase: 'Running', podIP: '10.0.0.1' });
    expect(next.view('uid-job')?.status).toMatchObject({ phase: 'Failed' });
    expect(next.view('uid-job')?.status.reason).toBeUndefined();
    await next.stop();
  });

  it('knows that a pod which is not to run again has succeeded, also when its time is over meanwhile', async () => {
    const bench = createBench();
    const spec = {
      restartPolicy: 'Never' as const,
      activeDeadlineSeconds: 60,
      containers: [aContainer('main', { command: ['exit', '0'] })],
    };
    bench.file.say([aPod({ spec })]);
    const first = bench.start();
    await bench.clock.advance(3 * second);
    expect(first.view('uid-web')?.status.phase).toBe('Succeeded');
    await first.stop();
    await bench.clock.advance(100 * second);
    const next = bench.start();
    await bench.clock.advance(3 * second);
    const status = next.view('uid-web')?.status;
    expect(status?.phase).toBe('Succeeded');
    expect(status?.reason).toBeUndefined();
    await next.stop();
  });

  it('takes down what was removed meanwhile, with its hooks and grace period, when its source has spoken', async () => {
    const recorder = recordCalls();
    const bench = createBench({ wrap: recorder.wrap });
    const main = aContainer('main', { lifecycle: { preStop: { exec: { command: ['drain'] } } } });
    bench.file.say([aPod({ spec: { containers: [main], terminationGracePeriodSeconds: 77 } })]);
    const first = bench.start();
    await bench.clock.settle();
    await first.stop();
    bench.file.say([], { incomplete: true });
    const next = bench.start();
    await bench.clock.advance(30 * second);
    expect(await describeRuntime(bench.runtime)).toEqual(['uid-web ready main']);
    bench.file.say([]);
    await bench.clock.advance(3 * second);
    expect(await describeRuntime(bench.runtime)).toEqual([]);
    expect(bench.hooks).toEqual(['main: drain']);
    expect(recorder.calls.find(({ method }) => method === 'stopContainer')?.request.timeout).toBe(77n);
    expect([...bench.preparation.uids]).toEqual([]);
    await next.stop();
  });

  it('lets an edited pod wait for the one it finds', async () => {
    const bench = createBench();
    const dog = createWatchdog();
    bench.file.say([aPod()]);
    const first = bench.start();
    await bench.clock.settle();
    await first.stop();
    bench.file.say([aPod({ uid: 'uid-edited' })]);
    const next = bench.start({ runtime: dog.wrap(bench.runtime) });
    await bench.clock.advance(3 * second);
    expect(await describeRuntime(bench.runtime)).toEqual(['uid-edited ready main']);
    expect(dog.violations).toEqual([]);
    await next.stop();
  });

  it('leaves alone pods of another node’s podlet or of another client', async () => {
    const bench = createBench();
    const config = {
      metadata: { name: 'x', namespace: 'y', uid: 'z', attempt: 0 },
      hostname: '',
      logDirectory: '',
      portMappings: [],
      annotations: {},
    };
    const foreign = {
      ...config,
      labels: {
        'io.kubernetes.pod.uid': 'z',
        'io.kubernetes.pod.name': 'x',
        'io.kubernetes.pod.namespace': 'y',
      },
    };
    await bench.runtime.runPodSandbox({ config: foreign, runtimeHandler: '' });
    bench.file.say([]);
    const podlet = bench.start();
    await bench.clock.advance(120 * second);
    expect(await describeRuntime(bench.runtime)).toEqual(['z ready']);
    await podlet.stop();
  });
});

describe('sources', () => {
  it('that are dead do not keep the pods of others alive', async () => {
    const bench = createBench({ sources: ['file', 'api'] });
    const podlet = bench.start();
    bench.file.say([aPod()]);
    await bench.clock.settle();
    bench.file.say([]);
    await bench.clock.settle();
    expect(await describeRuntime(bench.runtime)).toEqual([]);
    expect(podlet.isReady('file')).toBe(true);
    expect(podlet.isReady()).toBe(false);
    await podlet.stop();
  });

  it('that have not spoken keep their own', async () => {
    const bench = createBench({ sources: ['file', 'api'] });
    bench.file.say([aPod()]);
    bench.api.say([aPod({ name: 'bound' })]);
    const first = bench.start();
    await bench.clock.settle();
    await first.stop();
    bench.file.say([]);
    bench.api.say([], { incomplete: true });
    const next = bench.start();
    await bench.clock.advance(200 * second);
    expect(await describeRuntime(bench.runtime)).toEqual(['uid-bound ready main']);
    bench.api.say([]);
    await bench.clock.advance(3 * second);
    expect(await describeRuntime(bench.runtime)).toEqual([]);
    await next.stop();
  });
});

/** Steps of a whole life: brought up, killed sandbox, taken down. */
async function live(bench: ReturnType<typeof createBench>, life: ReturnType<typeof createLife>) {
  const podlet = bench.start({
    runtime: life.wrap(bench.runtime),
    preparation: life.wrapPreparation(bench.preparation),
    faults: life.faults,
  });
  bench.file.say([pod]);
  await bench.clock.advance(3 * second);
  const sandboxId = podlet.view('uid-web')?.sandboxId;
  if (sandboxId !== undefined && !life.isOver()) bench.runtime.crashSandbox(sandboxId);
  await bench.clock.advance(3 * second);
  bench.file.say([]);
  await bench.clock.advance(3 * second);
  life.kill();
  void podlet.stop();
}

const pod = aPod({
  spec: {
    initContainers: [
      aContainer('init', { command: ['exit', '0'] }),
      aContainer('proxy', { restartPolicy: 'Always' }),
    ],
  },
});

describe('kill -9 after any step', () => {
  // More than a hundred lives.
  it(
    'leaves nothing behind, and what is wanted is brought up',
    { tags: ['long'], timeout: 240_000 },
    async () => {
      const whole = createLife();
      await live(createBench(), whole);
      expect(whole.steps.length).toBeGreaterThan(40);
      for (let step = 1; step <= whole.steps.length; step++) {
        for (const wanted of [true, false]) {
          const bench = createBench();
          await live(bench, createLife(step));
          bench.file.say(wanted ? [pod] : []);
          const dog = createWatchdog();
          const next = bench.start({ runtime: dog.wrap(bench.runtime) });
          await bench.clock.advance(100 * second);
          const found = (await describeRuntime(bench.runtime)).filter(
            (line) => line !== 'uid-web stopped' || !wanted,
          );
          expect(found, `${whole.steps[step - 1]} (${step})`).toEqual(
            wanted ? ['uid-web ready main proxy'] : [],
          );
          expect([...bench.preparation.uids], `${step}`).toEqual(wanted ? ['uid-web'] : []);
          expect(dog.violations).toEqual([]);
          await next.stop();
        }
      }
    },
  );
});
