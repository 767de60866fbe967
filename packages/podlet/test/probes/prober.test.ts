import { CriError, ExecSyncResponse } from '@podwire/cri';
import { describe, expect, test } from 'vitest';
import type { ProbeKind, ProbeTarget } from '../../src/parts.js';
import type { Probe } from '@podwire/pod-spec';
import { createProber, type ProberLimits } from '../../src/probes/index.js';
import { makeContainer, makePod } from '../runtime-config/make-pod.js';
import { createTestClock } from '@podwire/platform/testing';

const pod = makePod();
const uid = pod.metadata.uid;
const probe: Probe = {
  exec: { command: ['check'] },
  initialDelaySeconds: 0,
  periodSeconds: 10,
  timeoutSeconds: 1,
  successThreshold: 1,
  failureThreshold: 3,
};

/** A prober whose programs answer as the test says: an exit code, an error, or not at all. */
function setUp(limits?: ProberLimits) {
  const clock = createTestClock();
  const changes: string[] = [];
  const looks: string[] = [];
  let answer: () => number | Error | undefined = () => 0;
  let running = 0;
  let most = 0;
  const runtime = {
    execSync: async (
      { containerId, cmd }: { containerId: string; cmd: readonly string[] },
      options?: { signal?: AbortSignal },
    ) => {
      looks.push(`${containerId} ${cmd.join(' ')} ${clock.elapsed() / 1000}`);
      running += 1;
      most = Math.max(most, running);
      try {
        const result = answer();
        if (result instanceof Error) throw result;
        if (result === undefined) {
          await new Promise((_, reject) =>
            options!.signal!.addEventListener('abort', () => reject(new Error('cut'))),
          );
        }
        return ExecSyncResponse.fromPartial({ exitCode: result ?? 0, stderr: Buffer.from('words') });
      } finally {
        running -= 1;
      }
    },
  };
  const prober = createProber(
    {
      runtime,
      clock,
      random: () => 0.5,
      onChange: (pod, container, kind, probeResult, why) =>
        changes.push(`${container} ${kind} ${probeResult ? '+' : '-'} ${clock.elapsed() / 1000} ${why}`),
    },
    limits,
  );
  const watch = (kind: ProbeKind, more: Partial<Probe> = {}, target: Partial<ProbeTarget> = {}) =>
    prober.watch({
      pod,
      container: makeContainer(),
      kind,
      probe: { ...probe, exec: { command: [kind] }, ...more },
      containerId: 'id-1',
      address: '127.0.0.1',
      ...target,
    });
  const answers = (next: typeof answer) => (answer = next);
  return { clock, prober, watch, changes, looks, answers, most: () => most };
}

describe('times', () => {
  test('the initial delay counts from the start of the container', async () => {
    const { clock, watch, looks } = setUp();
    const startedAt = clock.now() - 50_000;
    watch('readiness', { initialDelaySeconds: 60 }, { startedAt });
    await clock.advance(9_999);
    expect(looks).toEqual([]);
    await clock.advance(1);
    expect(looks).toEqual(['id-1 readiness 10']);
    watch(
      'readiness',
      { initialDelaySeconds: 60 },
      { startedAt: startedAt - 3_600_000, containerId: 'id-2' },
    );
    await clock.advance(0);
    expect(looks.at(-1)).toBe('id-2 readiness 10');
  });

  test.each([0, Number.MAX_SAFE_INTEGER])(
    'a start that cannot be known (%d) is when it is watched first',
    async (startedAt) => {
      const { clock, watch, looks } = setUp();
      watch('readiness', { initialDelaySeconds: 60 }, { startedAt });
      await clock.advance(60_000);
      expect(looks).toEqual(['id-1 readiness 60']);
    },
  );

  test('at once, then after part of a period, then with each period', async () => {
    const { clock, watch, looks } = setUp();
    watch('readiness');
    await clock.advance(30_000);
    expect(looks).toEqual([
      'id-1 readiness 0',
      'id-1 readiness 7.5',
      'id-1 readiness 17.5',
      'id-1 readiness 27.5',
    ]);
  });

  test('not before the delay', async () => {
    const { clock, watch, looks } = setUp();
    watch('readiness', { initialDelaySeconds: 5 });
    await clock.advance(4999);
    expect(looks).toEqual([]);
    await clock.advance(1);
    expect(looks).toEqual(['id-1 readiness 5']);
  });

  test('a slow probe is not overtaken by the next', async () => {
    const { clock, watch, looks, answers, most } = setUp();
    answers(() => undefined);
    watch('readiness', { periodSeconds: 1, timeoutSeconds: 4 });
    await clock.advance(20_000);
    expect(most()).toBe(1);
    expect(looks).toEqual(['id-1 readiness 0', 'id-1 readiness 6', 'id-1 readiness 12', 'id-1 readiness 18']);
  });
});

describe('probeResults', () => {
  test('none before the first, then as the thresholds say', async () => {
    const { clock, prober, watch, changes, answers } = setUp();
    watch('readiness', { failureThreshold: 2 });
    expect(prober.probeResult(uid, 'main', 'readiness')).toBeUndefined();
    await clock.advance(0);
    expect(prober.probeResult(uid, 'main', 'readiness')).toBe(true);
    answers(() => 3);
    await clock.advance(8000);
    expect(prober.probeResult(uid, 'main', 'readiness')).toBe(true);
    await clock.advance(10_000);
    expect(prober.probeResult(uid, 'main', 'readiness')).toBe(false);
    expect(changes).toEqual(['main readiness + 0 ok', 'main readiness - 17.5 exit code 3: words']);
  });

  test('a probe that does not answer in time has failed, even if it cannot be stopped', async () => {
    const { clock, watch, changes, answers } = setUp();
    answers(() => undefined);
    watch('readiness', { failureThreshold: 1, timeoutSeconds: 2 });
    await clock.advance(5000);
    expect(changes).toEqual(['main readiness - 4 no answer within 4 s']);
  });

  test('a program that the runtime ended for its time has failed; a runtime that is away says nothing', async () => {
    const { clock, watch, changes, answers, looks } = setUp();
    answers(() => new CriError('UNAVAILABLE', 'away'));
    watch('liveness', { failureThreshold: 1 });
    await clock.advance(20_000);
    expect(looks).toHaveLength(3);
    expect(changes).toEqual([]);
    answers(() => new CriError('DEADLINE_EXCEEDED', 'late'));
    await clock.advance(10_000);
    expect(changes).toEqual(['main liveness - 27.5 not ended within 1 s']);
  });

  test('a container that has failed its liveness is not looked at again', async () => {
    const { clock, watch, looks, answers } = setUp();
    answers(() => 1);
    watch('liveness', { failureThreshold: 1 });
    await clock.advance(100_000);
    expect(looks).toHaveLength(1);
  });
});

describe('another container of the same name', () => {
  test('begins with nothing', async () => {
    const { clock, prober, watch, looks } = setUp();
    watch('readiness');
    watch('liveness');
    await clock.advance(0);
    watch('readiness', {}, { containerId: 'id-2' });
    expect(prober.probeResult(uid, 'main', 'readiness')).toBeUndefined();
    expect(prober.probeResult(uid, 'main', 'liveness')).toBeUndefined();
    await clock.advance(20_000);
    expect(looks.slice(2)).toEqual(['id-2 readiness 0', 'id-2 readiness 7.5', 'id-2 readiness 17.5']);
  });

  test('what was found out of the old one while it was replaced does not count', async () => {
    const { clock, prober, watch, changes, answers } = setUp();
    answers(() => undefined);
    watch('readiness', { failureThreshold: 1 });
    await clock.advance(500);
    answers(() => 0);
    watch('readiness', { initialDelaySeconds: 60 }, { containerId: 'id-2' });
    await clock.advance(10_000);
    expect(changes).toEqual([]);
    expect(prober.probeResult(uid, 'main', 'readiness')).toBeUndefined();
  });

  test('the same one goes on where it was', async () => {
    const { clock, watch, looks } = setUp();
    watch('readiness');
    await clock.advance(5000);
    watch('readiness');
    await clock.advance(5000);
    expect(looks).toEqual(['id-1 readiness 0', 'id-1 readiness 7.5']);
  });
});

describe('a startup probe', () => {
  const container = makeContainer({ startupProbe: probe });

  test('holds the others back until it has succeeded, and then lets them begin at once', async () => {
    const { clock, watch, looks, changes, answers } = setUp();
    answers(() => 1);
    watch('liveness', {}, { container });
    watch('readiness', {}, { container });
    watch('startup', { failureThreshold: 10 }, { container });
    await clock.advance(16_000);
    expect(looks).toEqual(['id-1 startup 0', 'id-1 startup 7.5']);
    answers(() => 0);
    await clock.advance(2000);
    expect(looks.slice(2)).toEqual(['id-1 startup 17.5', 'id-1 liveness 17.5', 'id-1 readiness 17.5']);
    expect(changes).toEqual([
      'main startup + 17.5 ok',
      'main liveness + 17.5 ok',
      'main readiness + 17.5 ok',
    ]);
    await clock.advance(100_000);
    expect(looks.filter((look) => look.includes('startup'))).toHaveLength(3);
  });

  test('holds nothing back where it had succeeded before this prober began', async () => {
    const { clock, watch, looks } = setUp();
    watch('readiness', {}, { container, hasStarted: true });
    await clock.advance(1000);
    expect(looks).toEqual(['id-1 readiness 0']);
  });

  test('delays of the others count from when the container was first seen', async () => {
    const { clock, watch, looks } = setUp();
    watch('startup', {}, { container });
    await clock.advance(20_000);
    watch('liveness', { initialDelaySeconds: 30 }, { container });
    await clock.advance(9999);
    expect(looks).toHaveLength(1);
    await clock.advance(1);
    expect(looks.at(-1)).toBe('id-1 liveness 30');
  });

  test('that fails for good is told', async () => {
    const { clock, watch, changes, looks, answers } = setUp();
    answers(() => 1);
    watch('startup', { failureThreshold: 2 }, { container });
    watch('readiness', {}, { container });
    await clock.advance(100_000);
    expect(changes).toEqual(['main startup - 7.5 exit code 1: words']);
    expect(looks).toHaveLength(2);
  });
});

describe('ends', () => {
  test('forgotten containers are left alone, others are not', async () => {
    const { clock, prober, watch, looks } = setUp();
    watch('readiness', {}, { container: makeContainer({ name: 'a' }), containerId: 'a' });
    watch('readiness', {}, { container: makeContainer({ name: 'b' }), containerId: 'b' });
    const other = makePod({}, { uid: `${uid}2` });
    watch('readiness', {}, { pod: other, containerId: 'other' });
    await clock.advance(0);
    prober.forget(uid, 'a');
    expect(prober.probeResult(uid, 'a', 'readiness')).toBeUndefined();
    await clock.advance(8000);
    prober.forget(uid);
    await clock.advance(10_000);
    const looksAt = (id: string) => looks.filter((look) => look.startsWith(`${id} `)).length;
    expect([looksAt('a'), looksAt('b'), looksAt('other')]).toEqual([1, 2, 3]);
  });

  test('who is told may forget at once', async () => {
    const { clock, prober, watch, looks, changes } = setUp();
    const push = changes.push.bind(changes);
    changes.push = (...each) => {
      prober.forget(uid);
      return push(...each);
    };
    watch('readiness');
    await clock.advance(60_000);
    expect(looks).toHaveLength(1);
  });

  test('close waits for what runs, and nothing is told afterwards', async () => {
    const { clock, prober, watch, changes, answers } = setUp();
    answers(() => undefined);
    for (const name of ['a', 'b'])
      watch('readiness', { failureThreshold: 1 }, { container: makeContainer({ name }) });
    await clock.advance(500);
    await prober.close();
    await clock.advance(60_000);
    expect(changes).toEqual([]);
    expect(clock.sleepers()).toBe(0);
  });
});

test('many are probed with few at once, and one timer while they wait', async () => {
  const { clock, watch, answers, most, looks, changes, prober } = setUp({ parallel: 5 });
  answers(() => undefined);
  for (let index = 0; index < 500; index++) {
    watch(
      'readiness',
      { initialDelaySeconds: 1, failureThreshold: 1 },
      { container: makeContainer({ name: `c${index}` }), containerId: `c${index}` },
    );
  }
  await clock.advance(0);
  expect(clock.sleepers()).toBe(1);
  await clock.advance(1000);
  expect(looks).toHaveLength(5);
  await clock.advance(3000);
  expect(looks).toHaveLength(10);
  answers(() => 0);
  await clock.advance(3000);
  expect(most()).toBe(5);
  expect(changes.length).toBe(500);
  await prober.close();
});
