import type { ContainerStatus, PodStatus, Probe } from '@podwire/pod-spec';
import type { Span } from '@podwire/tracing';
import { expect, test } from 'vitest';
import { findWaits, PodWaits } from '../../src/workers/pod-waits.js';
import { PodTrace } from '../../src/workers/pod-trace.js';
import { makeContainer, makePod } from '../runtime-config/make-pod.js';

const probe: Probe = {
  httpGet: { path: '/', port: 80, scheme: 'HTTP', httpHeaders: [] },
  ...{
    initialDelaySeconds: 0,
    periodSeconds: 1,
    timeoutSeconds: 1,
    successThreshold: 1,
    failureThreshold: 3,
  },
};
const pod = makePod({
  initContainers: [
    makeContainer({ name: 'page' }),
    makeContainer({ name: 'proxy', restartPolicy: 'Always', startupProbe: probe }),
  ],
  containers: [makeContainer({ name: 'web', readinessProbe: probe })],
});

const running = { running: { startedAt: '2026-01-01T00:00:00Z' } };
const ended = { terminated: { exitCode: 0, reason: 'Completed' } };
const waiting = (reason: string) => ({ waiting: { reason } });

function one(
  name: string,
  state: ContainerStatus['state'],
  more: Partial<ContainerStatus> = {},
): ContainerStatus {
  const rest = { lastState: {}, restartCount: 0, image: 'i', imageID: 'i', containerID: name };
  return { name, state, ready: false, started: false, ...rest, ...more };
}

function statusOf(all: readonly ContainerStatus[], reason?: string): PodStatus {
  const sandbox = {
    type: 'PodReadyToStartContainers',
    status: reason === undefined ? 'True' : 'False',
  } as const;
  return {
    ...pod.status,
    conditions: [reason === undefined ? sandbox : { ...sandbox, reason }],
    initContainerStatuses: all.filter(({ name }) => name !== 'web'),
    containerStatuses: all.filter(({ name }) => name === 'web'),
  };
}

const creating = one('web', waiting('ContainerCreating'));

test.each<[string, readonly ContainerStatus[], string | undefined, string[]]>([
  ['nothing while its first calls are under way', [creating], 'SandboxNotCreated', []],
  [
    'another attempt for its sandbox',
    [creating],
    'FailedCreatePodSandBox',
    ['wait after FailedCreatePodSandBox'],
  ],
  ['a network', [creating], 'NetworkNotReady', ['wait after NetworkNotReady']],
  ['an init container', [one('page', running), creating], undefined, ['init container page']],
  [
    'the startup of a sidecar',
    [one('page', ended, { ready: true }), one('proxy', running), creating],
    undefined,
    ['startup probe of proxy'],
  ],
  ['an image', [one('web', waiting('ImagePullBackOff'))], undefined, ['back-off of the image of web']],
  ['a restart', [one('web', waiting('CrashLoopBackOff'))], undefined, ['back-off of container web']],
  ['readiness', [one('web', running, { started: true })], undefined, ['readiness probe of web']],
  ['nothing when it is ready', [one('web', running, { started: true, ready: true })], undefined, []],
])('a pod waits for %s', (_case, all, reason, waits) => {
  expect(findWaits(pod, statusOf(all, reason))).toEqual(waits);
});

function makeTrace() {
  const spans: Span[] = [];
  let now = 0;
  const random = (bytes: number): Uint8Array => new Uint8Array(bytes).fill(spans.length + 1);
  const trace = new PodTrace({
    tracer: { start: () => expect.unreachable() },
    record: (span) => spans.push(span),
    now: () => now,
    random,
    name: 'pod shop/web',
    startedAt: 0,
  });
  const waits = new PodWaits();
  const at = (time: number, names: readonly string[]) => {
    now = time;
    waits.note(names, trace, time);
  };
  const parts = (all: readonly Span[]) =>
    all.map(({ name, startedAt, duration }) => [name, startedAt, duration]);
  return { trace, waits, at, recorded: () => parts(spans), soFar: () => parts(trace.soFar(waits.list())) };
}

test('each wait is a part of the trace, from when it was seen first to when it was over', () => {
  const { at, recorded, soFar } = makeTrace();
  at(10, ['init container page']);
  at(20, ['init container page']);
  at(40, ['readiness probe of web']);
  expect(recorded()).toEqual([['init container page', 10, 30]]);
  at(6_000, ['readiness probe of web']);
  expect(soFar()).toEqual([
    ['readiness probe of web', 40, 5_960],
    ['pod shop/web', 0, 6_000],
  ]);
  at(6_040, []);
  expect(recorded().at(-1)).toEqual(['readiness probe of web', 40, 6_000]);
});

test('a pod that has been ready once waits for nothing that its trace should have', () => {
  const { trace, at, recorded, soFar } = makeTrace();
  trace.finish();
  at(10, ['readiness probe of web']);
  at(20, []);
  expect(recorded()).toEqual([['pod shop/web', 0, 0]]);
  expect(soFar()).toEqual([]);
});
