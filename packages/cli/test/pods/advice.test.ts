import type { PodView } from '@podwire/podlet';
import { describe, expect, test } from 'vitest';
import { adviseOn } from '../../src/pods/advice.js';
import { container, podView } from './views.js';

const unready = { type: 'Ready', status: 'False' as const, reason: 'ContainersNotReady' };
const started = { running: { startedAt: '2026-01-01T00:00:00Z' } };

const waits = (reason: string, message = 'why'): PodView => {
  const one = container('a', { ready: false, state: { waiting: { reason, message } } });
  return podView('web', { containers: [one] }, { phase: 'Pending', conditions: [unready] });
};

const fails = (reason: string): PodView =>
  podView('web', {}, { phase: 'Failed', reason, message: 'why', conditions: [unready] });

const happens = (reason: string, message: string, status: Partial<PodView['status']> = {}): PodView => {
  const event = { type: 'Warning' as const, reason, message, at: 1, lastAt: Date.now(), count: 1 };
  const one = container('a', { ready: false, state: { waiting: { reason: 'ContainerCreating' } } });
  const more = { containers: [one], events: [event] };
  return podView('web', more, { phase: 'Pending', conditions: [unready], ...status });
};

const ends = (reason: string): PodView => {
  const one = container('a', { ready: false, state: { terminated: { exitCode: 1, reason } } });
  return podView('web', { containers: [one] }, { phase: 'Failed', conditions: [unready] });
};

const probed = (message: string): PodView => {
  const event = {
    type: 'Warning' as const,
    reason: 'Unhealthy',
    message,
    at: 1,
    lastAt: Date.now(),
    count: 1,
  };
  const one = container('a', { ready: false, state: started });
  return podView('web', { containers: [one], events: [event] }, { conditions: [unready] });
};

/** Each reason that the pod agent can raise, and the words that tell the advice. */
test.each<[string, PodView, RegExp]>([
  [
    'no node agent',
    happens('NetworkNotReady', 'the Podwire agent cannot be reached'),
    /Start the node agent/,
  ],
  ['no network', happens('NetworkNotReady', 'network is not ready: x'), /podwire net explain/],
  [
    'a sandbox',
    happens('FailedCreatePodSandBox', 'POOL_EXHAUSTED: x'),
    /docs\/errors.md says what POOL_EXHAUSTED/,
  ],
  ['a sandbox without a code', happens('FailedCreatePodSandBox', 'x'), /^It is tried again by itself/],
  ['a volume', happens('FailedMount', 'x'), /correct the volume.*\/pods\/web\.yaml/],
  ['no event', happens('DNSConfigForming', 'x'), /podwire events -w/],
  ['preparing', waits('PodInitializing'), /podwire events -w/],
  ['a crash', waits('CrashLoopBackOff'), /podwire logs shop\/web --previous/],
  ['a command', waits('RunContainerError'), /Correct `command`/],
  ['a configuration', waits('CreateContainerConfigError'), /what the message names/],
  ['a hook', waits('PostStartHookError'), /lifecycle\.postStart/],
  ['a pull', waits('ErrImagePull'), /Correct `image`/],
  ['a pull again', waits('ImagePullBackOff'), /Correct `image`/],
  ['a registry', waits('RegistryUnavailable'), /registry/],
  ['an image that is not there', waits('ErrImageNeverPull'), /imagePullPolicy/],
  ['a name of an image', waits('InvalidImageName'), /Correct `image`/],
  ['a runtime', waits('ImageInspectError'), /container runtime/],
  ['a signature', waits('SignatureValidationFailed'), /policy/],
  ['a host port', fails('NodePorts'), /./],
  ['CPU', fails('OutOfcpu'), /requests/],
  ['memory', fails('OutOfmemory'), /requests/],
  ['labels', fails('NodeAffinity'), /nodeSelector/],
  ['a sysctl', fails('SysctlForbidden'), /allowed-unsafe-sysctls/],
  ['time', fails('DeadlineExceeded'), /activeDeadlineSeconds/],
  ['no hope', fails('Hopeless'), /podwire logs/],
  ['AppArmor', fails('AppArmor'), /AppArmor/],
  ['seccomp', fails('Seccomp'), /seccomp/],
  ['a field', fails('Unsupported'), /what the message names/],
  ['an end', ends('Error'), /podwire logs shop\/web/],
  ['too much memory', ends('OOMKilled'), /limits\.memory/],
  ['an end that is not known', ends('ContainerStatusUnknown'), /runtime/],
  ['a probe', probed('Readiness probe of container a failed: 500'), /podwire logs shop\/web {3}shows/],
  [
    'a network',
    probed('Readiness probe of container a failed: no answer within 1 s'),
    /podwire explain shop\/web/,
  ],
])('%s', (_case, pod, words) => {
  expect(adviseOn(pod).join('\n')).toMatch(words);
});

describe('no advice', () => {
  test('for a pod that is ready, and for one of whose end nothing is known', () => {
    expect(adviseOn(podView('web'))).toEqual([]);
    expect(adviseOn(podView('web', {}, { phase: 'Succeeded', conditions: [] }))).toEqual([]);
  });
});

test('a host port is named as people write it', () => {
  const message = 'Pod Predicate NodePorts failed: TCP port 8080 is taken by pod default/old';
  const taken = podView('web', {}, { phase: 'Failed', reason: 'NodePorts', message, conditions: [unready] });
  expect(adviseOn(taken)[0]).toMatch(/Choose another `hostPort`/);
});
