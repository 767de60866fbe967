/** A pod agent that is started again knows nothing of probes at first, and takes no pod out of its services for that. */
import type { Pod, PodStatus, Probe } from '@podwire/pod-spec';
import { describe, expect, it } from 'vitest';
import { readEarlierResults } from '../../src/lifecycle/earlier-results.js';
import type { PodletConfig } from '../../src/podlet.js';
import { noSink } from '../../src/sync/sync-context.js';
import { type Bench, createBench, createTestProber, type TestProber } from './fixture.js';
import { aContainer, aPod } from './pods.js';

const second = 1_000;
const probe: Probe = {
  initialDelaySeconds: 0,
  periodSeconds: 5,
  timeoutSeconds: 1,
  successThreshold: 1,
  failureThreshold: 3,
};
const spec = { containers: [aContainer('main', { readinessProbe: probe, startupProbe: probe })] };
const uid = 'uid-web';

interface Life {
  readonly prober: TestProber;
  /** Of all that was published: if the pod and its container were ready, and had started. */
  readonly published: readonly string[];
  status(): PodStatus;
  stop(): Promise<void>;
}

/** Starts a pod agent that finds the pod as the API has it. */
async function live(bench: Bench, pod: Pod, config: Omit<PodletConfig, 'settings'> = {}): Promise<Life> {
  bench.api.say([pod]);
  const prober = createTestProber();
  const published: string[] = [];
  const sink = {
    ...noSink,
    statusChanged: (_: Pod, status: PodStatus) => void published.push(describeStatus(status)),
  };
  const podlet = bench.start({ createProber: () => prober, sink }, {}, config);
  await bench.clock.advance(3 * second);
  return { prober, published, status: () => podlet.view(uid)!.status, stop: () => podlet.stop() };
}

function describeStatus({ conditions, containerStatuses: [container] }: PodStatus): string {
  const isReady = conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
  const words = [
    isReady && 'Ready',
    container?.started === true && 'started',
    container?.ready === true && 'ready',
  ];
  return words.filter((word) => word !== false).join(' ') || 'waiting';
}

/** As the API has it, with the runtime's name in ids. */
const withStatus = (pod: Pod, status: PodStatus): Pod => ({
  ...pod,
  status: {
    ...status,
    containerStatuses: status.containerStatuses.map((each) => ({
      ...each,
      containerID: `containerd://${each.containerID}`,
    })),
  },
});

async function becomeReady(bench: Bench, life: Life): Promise<void> {
  life.prober.set(uid, 'main', 'startup', true);
  await bench.clock.advance(60 * second);
  life.prober.set(uid, 'main', 'readiness', true);
  await bench.clock.advance(60 * second);
  expect(describeStatus(life.status())).toBe('Ready started ready');
}

describe('a pod agent that is started again', () => {
  it('keeps a pod of the API ready, from the first status that it writes', async () => {
    const bench = createBench({ sources: ['api'] });
    const first = await live(bench, aPod({ source: 'api', spec }));
    await becomeReady(bench, first);
    await first.stop();
    const next = await live(bench, withStatus(aPod({ source: 'api', spec }), first.status()));
    expect(new Set(next.published)).toEqual(new Set(['Ready started ready']));
    expect([...next.prober.targets.values()].map(({ kind, hasStarted }) => [kind, hasStarted])).toEqual([
      ['readiness', true],
    ]);
    await next.stop();
  });

  it('believes a probe that fails then', async () => {
    const bench = createBench({ sources: ['api'] });
    const first = await live(bench, aPod({ source: 'api', spec }));
    await becomeReady(bench, first);
    await first.stop();
    const next = await live(bench, withStatus(aPod({ source: 'api', spec }), first.status()));
    next.prober.set(uid, 'main', 'readiness', false);
    await bench.clock.advance(60 * second);
    expect(describeStatus(next.status())).toBe('started');
    await next.stop();
  });

  it('leaves a pod that was still starting as it was', async () => {
    const bench = createBench({ sources: ['api'] });
    const first = await live(bench, aPod({ source: 'api', spec }));
    await first.stop();
    const next = await live(bench, withStatus(aPod({ source: 'api', spec }), first.status()));
    expect(describeStatus(next.status())).toBe('waiting');
    expect([...next.prober.targets.values()].map(({ kind }) => kind)).toEqual(['startup']);
    await next.stop();
  });

  it('does not believe it of a container that has taken the place of the one that was ready', async () => {
    const bench = createBench({ sources: ['api'] });
    const first = await live(bench, aPod({ source: 'api', spec }));
    await becomeReady(bench, first);
    await first.stop();
    const { containerID } = first.status().containerStatuses[0]!;
    await bench.runtime.stopContainer({ containerId: containerID, timeout: 0n });
    const next = await live(bench, withStatus(aPod({ source: 'api', spec }), first.status()));
    expect(next.status().containerStatuses[0]!.containerID).not.toBe(containerID);
    expect(describeStatus(next.status())).toBe('waiting');
    await next.stop();
  });

  it('keeps a pod without an API server ready by what was written down', async () => {
    const bench = createBench({ sources: ['api'] });
    const first = await live(bench, aPod({ spec }));
    await becomeReady(bench, first);
    await first.stop();
    const earlierResults = new Map([[uid, readEarlierResults(first.status())]]);
    const next = await live(bench, aPod({ spec }), { earlierResults });
    expect(describeStatus(next.status())).toBe('Ready started ready');
    await next.stop();
  });
});
