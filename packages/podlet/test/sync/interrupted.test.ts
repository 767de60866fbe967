/** Programs that end well when they are told to end, in pods that start again only after a failure. */
import { describe, expect, it } from 'vitest';
import { createBench } from './fixture.js';
import { aContainer, aPod } from './pods.js';

const second = 1_000;
const restartPolicy = 'OnFailure' as const;
const createPoliteBench = () => createBench({ programOf: () => ({ termExitCode: 0 }) });

describe('a pod that has not done its work', () => {
  it.each([
    ['at once', 0],
    ['when there is a network again', 40],
  ])('goes on when its sandbox is replaced, %s', async (_, outage) => {
    const bench = createPoliteBench();
    const podlet = bench.start();
    bench.file.say([aPod({ spec: { restartPolicy } })]);
    await bench.clock.advance(5 * second);
    const sandboxId = podlet.view('uid-web')?.sandboxId;
    bench.addresses.get('uid-web/0')?.splice(0);
    const takeBack = outage === 0 ? undefined : bench.runtime.fail('runPodSandbox', { how: 'refused' });
    await bench.clock.advance((70 + outage) * second);
    takeBack?.();
    await bench.clock.advance(20 * second);
    expect(podlet.view('uid-web')).toMatchObject({
      status: { phase: 'Running' },
      containers: [{ restartCount: 1, state: { running: {} } }],
    });
    expect(podlet.view('uid-web')?.sandboxId).not.toBe(sandboxId);
    await podlet.stop();
  });

  it('goes on when its liveness probe fails, also after a pause', async () => {
    const bench = createPoliteBench();
    const podlet = bench.start();
    const livenessProbe = {
      initialDelaySeconds: 0,
      periodSeconds: 1,
      timeoutSeconds: 1,
      successThreshold: 1,
      failureThreshold: 1,
    };
    bench.file.say([aPod({ spec: { restartPolicy, containers: [aContainer('main', { livenessProbe })] } })]);
    await bench.clock.advance(2 * second);
    for (let failures = 1; failures <= 2; failures++) {
      bench.prober.set('uid-web', 'main', 'liveness', false);
      await bench.clock.advance(90 * second);
      expect(podlet.view('uid-web')).toMatchObject({
        status: { phase: 'Running' },
        containers: [{ restartCount: failures, state: { running: {} } }],
      });
    }
    await podlet.stop();
  });

  it('has when it ends well by itself', async () => {
    const bench = createBench({ programOf: () => ({ endsAfterMs: 10 * second }) });
    const podlet = bench.start();
    bench.file.say([aPod({ spec: { restartPolicy } })]);
    await bench.clock.advance(12 * second);
    expect(podlet.view('uid-web')?.status.phase).toBe('Succeeded');
    await podlet.stop();
  });
});
