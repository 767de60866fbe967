import { describe, expect, it, test } from 'vitest';
import type { ObservedPod } from '../../src/lifecycle/observed.js';
import { computeStatus, type PodFacts } from '../../src/lifecycle/status.js';
import type { Pod, PodSpec, PodStatus, Probe } from '@podwire/pod-spec';
import { aContainer, aPod } from '../sync/pods.js';
import { exited, instance, observed, sandbox } from './observe.js';

const now = Date.parse('2026-01-01T12:00:00Z');

function statusOf(pod: Pod, found: ObservedPod, facts: Partial<PodFacts> = {}): PodStatus {
  return computeStatus(pod, found, {
    probeResult: () => undefined,
    waiting: new Map(),
    now,
    nodeAddresses: ['192.0.2.1', '2001:db8::1'],
    ...facts,
  });
}

function condition(status: PodStatus, type: string) {
  const found = status.conditions.find((one) => one.type === type);
  return [found?.status, found?.reason, found?.message].filter((text) => text !== undefined).join(' | ');
}

const two = { containers: [aContainer('a'), aContainer('b')] };
const staged = { initContainers: [aContainer('one')] };
const sidecar = { initContainers: [aContainer('proxy', { restartPolicy: 'Always' as const })] };
const probe: Probe = {
  initialDelaySeconds: 0,
  periodSeconds: 1,
  timeoutSeconds: 1,
  successThreshold: 1,
  failureThreshold: 1,
};

describe('the phase', () => {
  const crashing = new Map([['main', { reason: 'CrashLoopBackOff' }]]);
  const cases: [string, Partial<PodSpec>, ObservedPod, Partial<PodFacts>, string][] = [
    ['of nothing', {}, observed([]), {}, 'Pending'],
    ['while an init container runs', staged, observed([sandbox()], [instance('one')]), {}, 'Pending'],
    ['after a failed init container', staged, observed([sandbox()], [exited('one', 1)]), {}, 'Pending'],
    [
      'after a failed init container with Never',
      { ...staged, restartPolicy: 'Never' },
      observed([sandbox()], [exited('one', 1)]),
      {},
      'Failed',
    ],
    ['between init and normal containers', staged, observed([sandbox()], [exited('one', 0)]), {}, 'Pending'],
    ['while one is not started yet', two, observed([sandbox()], [instance('a')]), {}, 'Pending'],
    ['with all running', two, observed([sandbox()], [instance('a'), instance('b')]), {}, 'Running'],
    [
      'with one running and one ended',
      { ...two, restartPolicy: 'Never' },
      observed([sandbox()], [instance('a'), exited('b', 1)]),
      {},
      'Running',
    ],
    ['with all ended and Always', {}, observed([sandbox()], [exited('main', 0)]), {}, 'Running'],
    ['in back-off', {}, observed([sandbox()], [exited('main', 1)]), { waiting: crashing }, 'Running'],
    [
      'with all successful',
      { restartPolicy: 'OnFailure' },
      observed([sandbox()], [exited('main', 0)]),
      {},
      'Succeeded',
    ],
    [
      'with a failure and OnFailure',
      { ...two, restartPolicy: 'OnFailure' },
      observed([sandbox()], [exited('a', 0), exited('b', 1)]),
      {},
      'Running',
    ],
    [
      'with a failure and Never',
      { ...two, restartPolicy: 'Never' },
      observed([sandbox()], [exited('a', 0), exited('b', 1)]),
      {},
      'Failed',
    ],
    ['without its sidecar', sidecar, observed([sandbox()], []), {}, 'Pending'],
    [
      'with its sidecar down later',
      sidecar,
      observed([sandbox()], [exited('proxy', 1), instance('main')]),
      {},
      'Running',
    ],
    [
      'of a hopeless pod',
      {},
      observed([sandbox()], [instance('main')]),
      { failure: { reason: 'Hopeless' } },
      'Failed',
    ],
    ['of one that was taken down well', {}, observed([], [exited('main', 0)]), { ended: true }, 'Succeeded'],
    ['of one that was taken down hard', {}, observed([], [exited('main', 137)]), { ended: true }, 'Failed'],
  ];
  it.each(cases)('%s', (_, spec, found, facts, phase) => {
    expect(statusOf(aPod({ spec }), found, facts).phase).toBe(phase);
  });

  it('stays when it is terminal', () => {
    const pod = aPod({ spec: { restartPolicy: 'OnFailure' } });
    const previous = statusOf(pod, observed([sandbox()], [exited('main', 0)]));
    expect(statusOf(pod, observed([sandbox()], [instance('main', { attempt: 1 })]), { previous }).phase).toBe(
      'Succeeded',
    );
    expect(statusOf(pod, observed([]), { previous }).phase).toBe('Succeeded');
  });
});

describe('addresses', () => {
  it('are those of the newest sandbox that is ready', () => {
    const found = observed([
      sandbox({ addresses: ['10.0.0.1'] }),
      sandbox({ attempt: 1, addresses: ['10.0.0.2', 'fd00::2'] }),
      sandbox({ attempt: 2, ready: false, addresses: ['10.0.0.3'] }),
    ]);
    const status = statusOf(aPod(), found);
    expect(status.podIP).toBe('10.0.0.2');
    expect(status.podIPs).toEqual([{ ip: '10.0.0.2' }, { ip: 'fd00::2' }]);
    expect(status.hostIP).toBe('192.0.2.1');
  });

  it('stay as they were while no sandbox is ready', () => {
    const previous = statusOf(aPod(), observed([sandbox()]));
    expect(statusOf(aPod(), observed([sandbox({ ready: false, addresses: [] })]), { previous }).podIP).toBe(
      '10.0.0.1',
    );
  });

  it('are the node’s on its network', () => {
    const pod = aPod({ spec: { hostNetwork: true } });
    expect(statusOf(pod, observed([sandbox({ hostNetwork: true, addresses: [] })])).podIPs).toEqual([
      { ip: '192.0.2.1' },
      { ip: '2001:db8::1' },
    ]);
  });
});

describe('conditions', () => {
  it('say why containers cannot start', () => {
    const type = 'PodReadyToStartContainers';
    expect(condition(statusOf(aPod(), observed([])), type)).toBe(
      'False | SandboxNotCreated | the sandbox is not created yet',
    );
    const sandboxProblem = { reason: 'FailedCreatePodSandBox', message: 'plugin podwire: no address left' };
    expect(condition(statusOf(aPod(), observed([]), { sandboxProblem }), type)).toBe(
      'False | FailedCreatePodSandBox | plugin podwire: no address left',
    );
    expect(condition(statusOf(aPod(), observed([sandbox({ addresses: [] })])), type)).toContain(
      'NetworkNotConfigured',
    );
    expect(condition(statusOf(aPod(), observed([sandbox({ ready: false })])), type)).toContain(
      'SandboxNotReady',
    );
    expect(condition(statusOf(aPod(), observed([sandbox()])), type)).toBe('True');
  });

  it('name the containers that are waited for', () => {
    const status = statusOf(aPod({ spec: { ...staged, ...two } }), observed([sandbox()], [instance('one')]));
    expect(condition(status, 'Initialized')).toBe(
      'False | ContainersNotInitialized | containers with incomplete status: [one]',
    );
    expect(condition(status, 'Ready')).toBe(
      'False | ContainersNotReady | containers with unready status: [a b]',
    );
    expect(condition(status, 'PodScheduled')).toBe('True');
  });

  it('hold for a pod that runs', () => {
    const status = statusOf(
      aPod({ spec: sidecar }),
      observed([sandbox()], [instance('proxy'), instance('main')]),
    );
    expect(status.conditions.map(({ status: each }) => each)).toEqual([
      'True',
      'True',
      'True',
      'True',
      'True',
    ]);
  });

  it('of others stay, and those of readiness gates count', () => {
    const bare = aPod({ spec: { readinessGates: [{ conditionType: 'example.com/balancer' }] } });
    const found = observed([sandbox()], [instance('main')]);
    expect(condition(statusOf(bare, found), 'Ready')).toBe(
      'False | ReadinessGatesNotReady | readiness gates: example.com/balancer is not set',
    );
    expect(condition(statusOf(bare, found), 'ContainersReady')).toBe('True');
    const gate = { type: 'example.com/balancer', status: 'True' as const };
    const open = statusOf({ ...bare, status: { ...bare.status, conditions: [gate] } }, found);
    expect(condition(open, 'Ready')).toBe('True');
    expect(open.conditions).toContainEqual(gate);
  });

  it('of pods that are over say so', () => {
    const done = statusOf(
      aPod({ spec: { restartPolicy: 'Never' } }),
      observed([sandbox({ ready: false })], [exited('main', 0)]),
    );
    expect(condition(done, 'Ready')).toBe('False | PodCompleted');
    expect(condition(done, 'Initialized')).toBe('True | PodCompleted');
    const failed = statusOf(
      aPod({ spec: { restartPolicy: 'Never' } }),
      observed([sandbox()], [exited('main', 1)]),
    );
    expect(condition(failed, 'ContainersReady')).toBe('False | PodFailed');
  });

  it('do not speak of a stopped sandbox when the pod was rejected before it had one', () => {
    const type = 'PodReadyToStartContainers';
    const failure = { reason: 'OutOfcpu', message: 'Pod needs more CPU than there is' };
    const rejected = statusOf(aPod(), observed([]), { failure });
    expect(condition(rejected, type)).toBe(
      'False | SandboxNotCreated | the pod ended before it had a sandbox',
    );
    const never = aPod({ spec: { restartPolicy: 'Never' } });
    const stopped = statusOf(never, observed([sandbox({ ready: false })], [exited('main', 0)]));
    expect(condition(stopped, type)).toBe('False | PodCompleted | the sandbox was stopped');
    const removed = statusOf(never, observed([]), { previous: stopped });
    expect(condition(removed, type)).toBe('False | PodCompleted | the sandbox was stopped');
  });

  it('move their time only with their status', () => {
    const previous = statusOf(aPod(), observed([]), { now: now - 60_000 });
    const later = statusOf(aPod(), observed([sandbox()]), { previous });
    const times = Object.fromEntries(later.conditions.map((one) => [one.type, one.lastTransitionTime]));
    expect(times.Ready).toBe('2026-01-01T11:59:00Z');
    expect(times.PodReadyToStartContainers).toBe('2026-01-01T12:00:00Z');
  });
});

describe('a container', () => {
  const only = (status: PodStatus) => status.containerStatuses[0]!;

  it('waits with a reason', () => {
    expect(only(statusOf(aPod(), observed([]))).state).toEqual({ waiting: { reason: 'ContainerCreating' } });
    expect(only(statusOf(aPod({ spec: staged }), observed([sandbox()], [instance('one')]))).state).toEqual({
      waiting: { reason: 'PodInitializing' },
    });
    const waiting = new Map([['main', { reason: 'ImagePullBackOff', message: 'no such image' }]]);
    expect(only(statusOf(aPod(), observed([sandbox()]), { waiting })).state).toEqual({
      waiting: waiting.get('main'),
    });
  });

  it('runs, and is ready when its probes say so', () => {
    const pod = aPod({
      spec: { containers: [aContainer('main', { readinessProbe: probe, startupProbe: probe })] },
    });
    const found = observed([sandbox()], [instance('main', { startedAt: now })]);
    const before = only(statusOf(pod, found));
    expect(before).toMatchObject({
      state: { running: { startedAt: '2026-01-01T12:00:00Z' } },
      started: false,
      ready: false,
    });
    const probeResult = (_: string, kind: string) => (kind === 'startup' ? true : undefined);
    expect(only(statusOf(pod, found, { probeResult }))).toMatchObject({ started: true, ready: false });
    expect(only(statusOf(pod, found, { probeResult: () => true }))).toMatchObject({
      started: true,
      ready: true,
    });
  });

  it.each([
    [0, '', 'Completed'],
    [1, '', 'Error'],
    [137, 'OOMKilled', 'OOMKilled'],
  ])('that ended with %i %s says %s', (exitCode, reason, expected) => {
    const pod = aPod({ spec: { restartPolicy: 'Never' } });
    const status = only(statusOf(pod, observed([sandbox()], [exited('main', exitCode, { reason })])));
    expect(status.state.terminated).toMatchObject({ exitCode, reason: expected });
  });

  it('that comes again and again shows how often, and its last end', () => {
    const found = observed([sandbox()], [exited('main', 3, { attempt: 4, id: 'four' })]);
    const waiting = new Map([['main', { reason: 'CrashLoopBackOff', message: 'back-off 40s' }]]);
    expect(only(statusOf(aPod(), found, { waiting }))).toMatchObject({
      state: { waiting: { reason: 'CrashLoopBackOff' } },
      lastState: { terminated: { exitCode: 3, containerID: 'four' } },
      restartCount: 4,
    });
    const running = observed(
      [sandbox()],
      [exited('main', 3, { attempt: 4 }), instance('main', { attempt: 5 })],
    );
    expect(only(statusOf(aPod(), running))).toMatchObject({
      lastState: { terminated: { exitCode: 3 } },
      restartCount: 5,
    });
  });

  it('says its termination message', () => {
    const pod = aPod({ spec: { restartPolicy: 'Never' } });
    const found = observed([sandbox()], [exited('main', 1, { id: 'x', message: 'of the runtime' })]);
    const terminationMessages = new Map([['x', 'the disk is full']]);
    expect(only(statusOf(pod, found, { terminationMessages })).state.terminated?.message).toBe(
      'the disk is full',
    );
    expect(only(statusOf(pod, found)).state.terminated?.message).toBe('of the runtime');
  });

  it('that is lost is said to be', () => {
    const pod = aPod({ spec: { restartPolicy: 'Never' } });
    const status = only(statusOf(pod, observed([sandbox()], [instance('main', { state: 'unknown' })])));
    expect(status.state.terminated).toMatchObject({ exitCode: 137, reason: 'ContainerStatusUnknown' });
  });

  it('keeps its end when its remains are removed', () => {
    const pod = aPod({ spec: { restartPolicy: 'Never' } });
    const previous = statusOf(pod, observed([sandbox()], [exited('main', 7, { attempt: 2 })]));
    expect(only(statusOf(pod, observed([]), { previous }))).toMatchObject({
      state: { terminated: { exitCode: 7 } },
      restartCount: 2,
    });
  });
});

describe('the start', () => {
  const created = now - 60_000;

  it('of an adopted pod is that of its first sandbox, also where it was shown before that was seen', () => {
    const pod = aPod();
    const before = statusOf(pod, observed([]));
    expect(before.startTime).toBe('2026-01-01T12:00:00Z');
    const after = statusOf(pod, observed([sandbox({ createdAt: created })]), { previous: before });
    expect(after.startTime).toBe('2026-01-01T11:59:00Z');
  });

  it('stays when a new sandbox is made', () => {
    const pod = aPod();
    const before = statusOf(pod, observed([sandbox({ createdAt: created })]));
    const after = statusOf(pod, observed([sandbox({ createdAt: now })]), { previous: before });
    expect(after.startTime).toBe(before.startTime);
  });
});

test('the class of its resources is shown, and that an init container has not begun is said as kubectl knows it', () => {
  const resources = { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '1', memory: '1Gi' } };
  expect(statusOf(aPod(), observed([])).qosClass).toBe('BestEffort');
  const guaranteed = aPod({ spec: { containers: [aContainer('main', { resources })] } });
  expect(statusOf(guaranteed, observed([])).qosClass).toBe('Guaranteed');
  const pod = aPod({ spec: { initContainers: [aContainer('one'), aContainer('two')] } });
  const reasons = (found: ObservedPod) =>
    statusOf(pod, found).initContainerStatuses.map(({ state }) => state.waiting?.reason);
  expect(reasons(observed([]))).toEqual(['PodInitializing', 'PodInitializing']);
  expect(reasons(observed([sandbox()], [instance('one')]))).toEqual([undefined, 'PodInitializing']);
});

test('containers of a pod that was not admitted say the reason, also after a restart of the pod agent', () => {
  const failure = { reason: 'NodePorts', message: 'Pod Predicate NodePorts failed' };
  const refused = statusOf(aPod({ spec: staged }), observed([]), { failure });
  const again = statusOf(aPod({ spec: staged }), observed([]), { previous: refused });
  for (const { phase, initContainerStatuses, containerStatuses } of [refused, again]) {
    expect(phase).toBe('Failed');
    for (const { state } of [...initContainerStatuses, ...containerStatuses])
      expect(state).toEqual({ waiting: { reason: 'NodePorts' } });
  }
});

test('an init container whose record is gone has succeeded, when a later container is there', () => {
  const initContainers = [aContainer('one'), aContainer('two')];
  const pod = aPod({ spec: { initContainers } });
  const states = (found: ObservedPod) =>
    statusOf(pod, found).initContainerStatuses.map(({ ready, state }) => [ready, state.terminated?.reason]);
  const passed = [true, 'Completed'];
  const unknown = [false, undefined];
  expect(states(observed([sandbox()], [instance('main')]))).toEqual([passed, passed]);
  expect(states(observed([sandbox()], [instance('two')]))).toEqual([passed, unknown]);
  const earlier = observed([sandbox({ attempt: 1 })], [instance('main', { sandboxId: 'sandbox-0' })]);
  expect(states(earlier)).toEqual([unknown, unknown]);
});

describe('termination message', () => {
  const names = ['a', 'b', 'c', 'd', 'e'];
  const pod = aPod({
    spec: {
      restartPolicy: 'Never',
      initContainers: [aContainer('a')],
      containers: names.slice(1).map((name) => aContainer(name)),
    },
  });

  it('of all containers are 12 KiB at most, shared equally, and not cut within a character', () => {
    const found = observed(
      [sandbox()],
      names.map((name) => exited(name, 1, { id: name, message: 'm'.repeat(5_000) })),
    );
    const terminationMessages = new Map([
      ['a', 'x'.repeat(4096)],
      ['b', 'ü'.repeat(2048)],
      ['c', 'short'],
    ]);
    const status = statusOf(pod, found, { terminationMessages });
    const said = [...status.initContainerStatuses, ...status.containerStatuses].map(
      ({ state }) => state.terminated?.message ?? '',
    );
    expect(said.map((text) => Buffer.byteLength(text))).toEqual([2457, 2456, 5, 2457, 2457]);
    expect(said[1]).toBe('ü'.repeat(1228));
  });

  it('of the instance before count too', () => {
    const found = observed(
      [sandbox()],
      [instance('b', { attempt: 1 }), exited('b', 1, { message: 'm'.repeat(5_000) })],
    );
    const [status] = statusOf(pod, found).containerStatuses;
    expect(status?.lastState.terminated?.message).toHaveLength(2457);
  });
});
