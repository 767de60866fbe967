import { createColors } from 'picocolors';
import { expect, test } from 'vitest';
import { chooseLog } from '../../src/commands/logs.js';
import { readForward } from '../../src/commands/port-forward.js';
import { sortPlaces } from '../../src/commands/up.js';
import { isOf } from '../../src/pods/follow.js';
import { applyChange, type PodBoard } from '../../src/pods/follow.js';
import { describeState, evaluatePod } from '../../src/pods/readiness.js';
import { choosePod } from '../../src/pods/names.js';
import { joinPods } from '../../src/pods/list.js';
import { renderPodTable } from '../../src/pods/table.js';
import { container, podView } from './views.js';

const unready = [{ type: 'Ready', status: 'False' as const, reason: 'ContainersNotReady' }];
const waiting = container('main', { ready: false, state: { waiting: { reason: 'ContainerCreating' } } });
const event = {
  type: 'Warning' as const,
  reason: 'FailedCreatePodSandBox',
  message: 'no address',
  at: 1,
  lastAt: 2,
  count: 3,
};

test.each([
  ['ready', podView('a'), { state: 'ready', why: '' }, 'Running'],
  ['ended well', podView('a', {}, { phase: 'Succeeded' }), { state: 'succeeded', why: '' }, 'Completed'],
  [
    'ended badly',
    podView(
      'a',
      { containers: [container('main', { state: { terminated: { exitCode: 3, reason: 'Error' } } })] },
      { phase: 'Failed' },
    ),
    { state: 'failed', why: 'Error: container main ended with exit code 3' },
    'Error',
  ],
  [
    'waiting for a container',
    podView('a', { containers: [waiting] }, { phase: 'Pending', conditions: unready }),
    { state: 'waiting', why: 'ContainerCreating' },
    'ContainerCreating',
  ],
  [
    'a warning says more',
    podView('a', { containers: [waiting], events: [event] }, { phase: 'Pending', conditions: unready }),
    { state: 'waiting', why: 'FailedCreatePodSandBox: no address' },
    'ContainerCreating',
  ],
  [
    'running and not ready',
    podView('a', {}, { conditions: unready }),
    { state: 'waiting', why: 'ContainersNotReady' },
    'Running',
  ],
  ['on its way out', podView('a', { stage: 'terminating' }), { state: 'ready', why: '' }, 'Terminating'],
] as const)('%s', (_case, pod, readiness, state) => {
  expect(evaluatePod(pod)).toEqual(readiness);
  expect(describeState(pod)).toBe(state);
});

test('how far its init containers are', () => {
  const done = container('one', { ready: true, state: { terminated: { exitCode: 0, reason: 'Completed' } } });
  const next = (state: ReturnType<typeof container>['state']) => container('two', { ready: false, state });
  const stateOf = (...initContainerStatuses: ReturnType<typeof container>[]) => {
    const view = podView('web');
    return describeState({ ...view, status: { ...view.status, phase: 'Pending', initContainerStatuses } });
  };
  expect(stateOf(done, next({ waiting: { reason: 'PodInitializing' } }))).toBe('Init:1/2');
  expect(stateOf(done, next({ running: { startedAt: '' } }))).toBe('Init:1/2');
  expect(stateOf(done, next({ waiting: { reason: 'CrashLoopBackOff' } }))).toBe('Init:CrashLoopBackOff');
  expect(stateOf(done, next({ terminated: { exitCode: 1, reason: 'Error' } }))).toBe('Init:Error');
});

test('a pod by its name, as long as there is only one', () => {
  const pods = [podView('web'), podView('db'), podView('db', { namespace: 'other', uid: 'o' })];
  expect(choosePod(pods, 'web').name).toBe('web');
  expect(choosePod(pods, 'pod/other/db').uid).toBe('o');
  expect(choosePod(pods, 'db', 'shop').uid).toBe('uid-db');
  expect(() => choosePod(pods, 'db')).toThrow('db may be any of other/db shop/db');
  expect(() => choosePod(pods, 'shop/x')).toThrow('there is no pod shop/x');
  const twice = [podView('web', { stage: 'terminating', uid: 'old' }), podView('web')];
  expect(choosePod(twice, 'web').uid).toBe('uid-web');
});

test('changes keep the board as the pod agent has it', () => {
  const board: PodBoard = { pods: new Map(), problems: [] };
  applyChange(board, { kind: 'all', pods: [podView('a'), podView('b')], problems: [] });
  applyChange(board, { kind: 'pod', pod: podView('c') });
  applyChange(board, { kind: 'gone', uid: 'uid-a', namespace: 'shop', name: 'a' });
  applyChange(board, { kind: 'problems', problems: [{ source: 'file', origin: 'x', message: 'm' }] });
  expect([...board.pods.keys()]).toEqual(['uid-b', 'uid-c']);
  expect(board.problems).toHaveLength(1);
});

test('places are absolute, and a pod belongs to its file or to the directory of it', () => {
  expect(sortPlaces(['/etc/pods', 'https://example.org/x'])).toEqual({
    files: ['/etc/pods'],
    urls: ['https://example.org/x'],
  });
  expect(sortPlaces(['a.yaml']).files[0]).toBe(`${process.cwd()}/a.yaml`);
  const concerns = isOf(['/etc/pods/', '/one.yaml']);
  expect(['/etc/pods/a.yaml', '/one.yaml'].map((origin) => concerns({ origin }))).toEqual([true, true]);
  expect(['/etc/pods2/a.yaml', '/two.yaml'].map((origin) => concerns({ origin }))).toEqual([false, false]);
  expect(concerns({})).toBe(false);
});

test('the table has the numbers people look for', () => {
  const pods = [
    podView('web', { containers: [container('a', { restartCount: 2 }), container('b', { ready: false })] }),
  ];
  const options = { now: Date.parse('2026-01-01T00:01:00Z'), width: Infinity };
  const rows = joinPods({ pods, endpoints: [] });
  const lines = renderPodTable(rows, options, createColors(false));
  expect(lines[1]!.split(/ {2,}/)).toEqual(['shop/web', '1/2', 'Running', '2', '10.0.0.1', '60s', '-']);
});

test('logs of the instance that is asked for', () => {
  const pod = podView('web', {
    containers: [container('a', { restartCount: 2, logPath: '/l/a/2.log' }), container('b')],
  });
  expect(chooseLog(pod, {}).file).toBe('/l/a/2.log');
  expect(chooseLog(pod, { previous: true }).file).toBe('/l/a/1.log');
  expect(chooseLog(pod, { container: 'b' }).file).toBe('/logs/b/0.log');
  expect(() => chooseLog(pod, { container: 'b', previous: true })).toThrow('has not been restarted');
  expect(() => chooseLog(pod, { container: 'c' })).toThrow('has no container c; it has a, b');
});

test('logs of a container, not of what has prepared its pod, unless that is named', () => {
  const [prepare, main] = [container('prepare'), container('main')];
  const status = { initContainerStatuses: [prepare], containerStatuses: [main] };
  const pod = podView('web', { containers: [prepare, main] }, status);
  expect(chooseLog(pod, {}).file).toBe('/logs/main/0.log');
  expect(chooseLog(pod, { container: 'prepare' }).file).toBe('/logs/prepare/0.log');
  const unseen = podView('web', { containers: [] }, { containerStatuses: [] });
  expect(() => chooseLog(unseen, {})).toThrow('pod shop/web has not been started yet');
});

test('ports as people write them', () => {
  const error = (message: string): never => {
    throw new Error(message);
  };
  expect(readForward({ error }, '8080:80')).toEqual({ local: 8080, remote: 80 });
  expect(readForward({ error }, '80')).toEqual({ local: 80, remote: 80 });
  expect(readForward({ error }, ':80')).toEqual({ local: 0, remote: 80 });
  for (const bad of ['', 'x', '1:2:3', '70000', '80:0', '99999:80']) {
    expect(() => readForward({ error }, bad)).toThrow('neither LOCAL:REMOTE');
  }
});
