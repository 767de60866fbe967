import type { PodView } from '@podwire/podlet';
import { expect, test } from 'vitest';
import { findReason, renderReason } from '../../src/pods/reason.js';
import { container, podView } from './views.js';

test('says of a pod that is ready why the API server does not take its status', () => {
  expect(renderReason(podView('web', { statusRefusal: 'status.podIPs: Invalid value' }))).toBe(
    'StatusRefused: by the API server: status.podIPs: Invalid value',
  );
  expect(renderReason(podView('web'))).toBe('-');
});

type Status = Partial<PodView['status']>;

const started = { running: { startedAt: '2026-01-01T00:00:00Z' } };
const unready = { type: 'Ready', status: 'False' as const, reason: 'ContainersNotReady' };
const connected = { type: 'PodReadyToStartContainers', status: 'True' as const };
const creating = container('a', { ready: false, state: { waiting: { reason: 'ContainerCreating' } } });

const warn = (reason: string, message: string, lastAt = Date.parse('2026-01-01T00:00:10Z')) =>
  ({ type: 'Warning', reason, message, at: lastAt, lastAt, count: 1 }) as const;

function pending(more: Partial<PodView>, status: Status = {}): PodView {
  return podView(
    'web',
    { containers: [creating], ...more },
    { phase: 'Pending', conditions: [unready], ...status },
  );
}

/** Pod as the pod agent reports it when there is no sandbox. */
function withoutSandbox(reason: string, message: string): PodView {
  const sandbox = { type: 'PodReadyToStartContainers', status: 'False' as const, reason, message };
  return pending({ events: [warn(reason, message)] }, { conditions: [sandbox, unready] });
}

const attached = (words: string): string =>
  `Failed to create pod sandbox: pod shop/web could not be attached: plugin podwire-cni failed to ADD: ${words}`;

function waits(
  reason: string,
  message: string,
  more: Partial<Parameters<typeof container>[1]> = {},
): PodView {
  const one = container('a', { ready: false, state: { waiting: { reason, message } }, ...more });
  return pending({ containers: [one] });
}

function runsUnready(events: PodView['events'], more: Parameters<typeof container>[1] = {}): PodView {
  const one = container('a', { ready: false, state: started, ...more });
  return podView('web', { containers: [one], events }, { conditions: [connected, unready] });
}

const ended = { terminated: { exitCode: 3, reason: 'Error', message: 'no database\n' } };

test.each<[string, PodView, string]>([
  ['a pod that is ready', podView('web'), '-'],
  ['one that was unready before', podView('web', { events: [warn('Unhealthy', 'x')] }), '-'],
  ['one that has ended well', podView('web', {}, { phase: 'Succeeded', conditions: [unready] }), '-'],
  ['one that is taken down', pending({ stage: 'terminating' }), '-'],
  [
    'one that cannot be taken down',
    pending({ stage: 'terminating', events: [warn('FailedCleanUp', 'error removing: busy')] }),
    'FailedCleanUp: error removing: busy',
  ],
  ['one of which nothing is known yet', pending({}), 'ContainerCreating'],
  [
    'a host port of a pod that the pod agent knows',
    podView(
      'web',
      {},
      {
        phase: 'Failed',
        conditions: [unready],
        reason: 'NodePorts',
        message: 'Pod Predicate NodePorts failed: TCP port 8080 is taken by pod default/old',
      },
    ),
    'HostPort: 8080/tcp is taken by pod default/old',
  ],
  [
    'a host port of a pod that the node agent knows',
    withoutSandbox(
      'FailedCreatePodSandBox',
      attached('PORT_IN_USE: host port udp [::]:53 is taken by pod default/dns (Choose another host port)'),
    ),
    'HostPort: 53/udp is taken by pod default/dns',
  ],
  [
    'no node agent',
    withoutSandbox(
      'FailedCreatePodSandBox',
      attached('the Podwire agent cannot be reached (/run/podwire/cni.sock: ECONNREFUSED)'),
    ),
    'NetworkNotReady: no node agent answers',
  ],
  [
    'a pool without addresses',
    withoutSandbox('FailedCreatePodSandBox', attached('POOL_EXHAUSTED: pool default has no free address')),
    'FailedCreatePodSandBox: POOL_EXHAUSTED: pool default has no…',
  ],
  [
    'no CNI configuration',
    withoutSandbox(
      'NetworkNotReady',
      'network is not ready: NetworkPluginNotReady: no configuration in /etc/cni',
    ),
    'NetworkNotReady: no configuration in /etc/cni',
  ],
  [
    'a volume that is not there',
    pending({ events: [warn('FailedMount', 'volumes are not available: volume site: /srv does not exist')] }),
    'FailedMount: volumes are not available: volume site: /srv does…',
  ],
  [
    'what failed before is over once the sandbox is there',
    pending(
      { events: [warn('FailedMount', 'x'), warn('DNSConfigForming', 'y')] },
      { conditions: [connected, unready] },
    ),
    'ContainerCreating',
  ],
  [
    'an image that may not be pulled',
    waits('ErrImageNeverPull', 'image web:1: it is not on this node, and imagePullPolicy is Never'),
    'ErrImageNeverPull: container a: image web:1: it is not on this…',
  ],
  [
    'a container without a command',
    waits('RunContainerError', 'container a has no command: the embedded runtime has no images'),
    'RunContainerError: container a has no command: the embedded…',
  ],
  [
    'a container that ends again and again',
    waits('CrashLoopBackOff', 'back-off 10s restarting failed container=a', { lastState: ended }),
    'CrashLoopBackOff: container a ended with exit code 3: no…',
  ],
  [
    'a container that has failed for good',
    podView(
      'web',
      { containers: [container('a', { state: ended })] },
      { phase: 'Failed', conditions: [unready] },
    ),
    'Error: container a ended with exit code 3: no database',
  ],
  [
    'a blocked pod',
    pending({}, { reason: 'AppArmor', message: 'Cannot enforce AppArmor' }),
    'AppArmor: Cannot enforce AppArmor',
  ],
  [
    'an init container that runs',
    pending(
      {},
      {
        conditions: [connected, unready],
        initContainerStatuses: [container('page', { ready: false, started: false, state: started })],
      },
    ),
    'Initializing: init container page runs',
  ],
  [
    'a probe that fails',
    runsUnready([warn('Unhealthy', 'Readiness probe of container a failed: connect ECONNREFUSED')]),
    'Unhealthy: Readiness probe of container a failed: connect…',
  ],
  [
    'a probe that failed before the container was started again',
    runsUnready([warn('Unhealthy', 'Liveness probe of container a failed: x', 1)]),
    'NotReady: container a: its readiness probe has not succeeded yet',
  ],
  [
    'a startup probe',
    runsUnready([], { started: false }),
    'NotReady: container a: its startup probe has not succeeded yet',
  ],
  [
    'a name that another pod still has',
    pending({
      stage: 'waiting',
      events: [
        {
          ...warn('WaitingForName', 'Another pod named shop/web is still being taken down.'),
          type: 'Normal',
        },
      ],
    }),
    'WaitingForName: Another pod named shop/web is still being…',
  ],
])('%s', (_case, pod, cell) => {
  expect(renderReason(pod)).toBe(cell);
});

test('what stands in the column STATE is not said again', () => {
  const pod = waits('RunContainerError', 'container a has no command');
  expect(renderReason(pod, 'RunContainerError')).toBe('container a has no command');
  expect(renderReason(pod, 'Pending')).toBe('RunContainerError: container a has no command');
});

test('only the cell is cut', () => {
  const why = 'the image index of registry.example.org does not answer within thirty seconds';
  expect(findReason(waits('ImagePullBackOff', why))).toEqual({
    reason: 'ImagePullBackOff',
    message: `container a: ${why}`,
    container: 'a',
  });
  expect(renderReason(waits('ImagePullBackOff', why)).length).toBeLessThanOrEqual(64);
});
