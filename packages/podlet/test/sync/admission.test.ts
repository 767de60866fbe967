import { describe, expect, it } from 'vitest';
import type { PodletNode } from '../../src/contract.js';
import type { Pod } from '@podwire/pod-spec';
import type { Podlet } from '../../src/podlet.js';
import { changing, recordCalls } from './calls.js';
import { createBench } from './fixture.js';
import { aContainer, aPod } from './pods.js';

const second = 1_000;

function onPort(name: string, hostPort = 8080): Pod {
  const ports = [{ containerPort: 80, hostPort, protocol: 'TCP' as const }];
  return aPod({ name, spec: { containers: [aContainer('main', { ports })] } });
}

function phases(podlet: Podlet): Record<string, string> {
  return Object.fromEntries(
    podlet
      .pods()
      .map(({ name, status: { phase, reason } }) => [name, [phase, reason].filter(Boolean).join(' ')]),
  );
}

const node: PodletNode = {
  name: 'node1',
  addresses: ['192.0.2.1'],
  resolvConf: () => Promise.resolve(''),
  hosts: () => Promise.resolve(''),
  clusterDns: [],
  clusterDomain: 'cluster.local',
  labels: { disk: 'ssd' },
  milliCpu: 2000n,
};

describe('two pods with one host port', () => {
  it('are one that runs and one that has failed, with the reason; the runtime never hears of it', async () => {
    const recorder = recordCalls();
    const bench = createBench({ wrap: recorder.wrap });
    const podlet = bench.start();
    bench.file.say([onPort('first'), onPort('second')]);
    await bench.clock.advance(3 * second);
    expect(phases(podlet)).toEqual({ first: 'Running', second: 'Failed NodePorts' });
    const { status, events } = podlet.view('uid-second')!;
    expect(status.message).toBe(
      'Pod Predicate NodePorts failed: TCP port 8080 is taken by pod default/first',
    );
    expect(events.map(({ type, reason }) => `${type} ${reason}`)).toEqual(['Warning NodePorts']);
    const made = recorder.calls.filter(({ method }) => method === 'runPodSandbox');
    expect(made).toHaveLength(1);
    recorder.calls.splice(0);
    bench.file.say([onPort('first')]);
    await bench.clock.settle();
    expect(changing(recorder.calls)).toEqual([]);
    expect(phases(podlet)).toEqual({ first: 'Running' });
    await podlet.stop();
  });

  it('keep what they are over a restart, whichever is first then', async () => {
    const bench = createBench();
    const first = bench.start();
    bench.file.say([onPort('old'), onPort('late')]);
    await bench.clock.advance(3 * second);
    await first.stop();
    const next = bench.start();
    bench.file.say([onPort('a-new-one'), onPort('late'), onPort('old')]);
    await bench.clock.advance(3 * second);
    expect(phases(next)).toEqual({
      'a-new-one': 'Failed NodePorts',
      late: 'Failed NodePorts',
      old: 'Running',
    });
    await next.stop();
  });

  it('that both run when the agent comes both go on', async () => {
    const bench = createBench();
    const before = bench.start();
    bench.file.say([onPort('one', 1), onPort('two', 2)]);
    await bench.clock.advance(3 * second);
    await before.stop();
    const podlet = bench.start();
    bench.file.say([onPort('one', 1), onPort('two', 1)]);
    await bench.clock.advance(3 * second);
    expect(phases(podlet)).toEqual({ one: 'Running', two: 'Running' });
    await podlet.stop();
  });

  it('are none where the first is being taken down, or has ended', async () => {
    const bench = createBench();
    const podlet = bench.start();
    bench.file.say([onPort('old-name')]);
    await bench.clock.advance(3 * second);
    bench.file.say([onPort('new-name')]);
    await bench.clock.advance(3 * second);
    expect(phases(podlet)).toEqual({ 'new-name': 'Running' });
    const job = { restartPolicy: 'Never' as const };
    const done = aPod({
      name: 'done',
      spec: { ...job, containers: [aContainer('main', { command: ['exit', '0'] })] },
    });
    bench.file.say([done]);
    await bench.clock.advance(3 * second);
    bench.file.say([done, onPort('another')]);
    await bench.clock.advance(3 * second);
    expect(phases(podlet)).toEqual({ done: 'Succeeded', another: 'Running' });
    await podlet.stop();
  });
});

describe('a node', () => {
  it('takes pods as long as it has room, in the order in which they came', async () => {
    const bench = createBench();
    const podlet = bench.start({ node });
    const asking = (name: string, cpu: string) => {
      const containers = [aContainer('main', { resources: { requests: { cpu } } })];
      return aPod({ name, spec: { containers } });
    };
    bench.file.say([asking('a', '1500m'), asking('b', '1'), asking('c', '500m')]);
    await bench.clock.advance(3 * second);
    expect(phases(podlet)).toEqual({ a: 'Running', b: 'Failed OutOfcpu', c: 'Running' });
    await podlet.stop();
  });

  it('refuses what does not belong on it', async () => {
    const bench = createBench();
    const podlet = bench.start({ node });
    bench.file.say([
      aPod({ name: 'here', spec: { nodeSelector: { disk: 'ssd' } } }),
      aPod({ name: 'there', spec: { nodeSelector: { disk: 'hdd' } } }),
      aPod({
        name: 'odd',
        spec: { securityContext: { sysctls: [{ name: 'net.core.somaxconn', value: '9' }] } },
      }),
    ]);
    await bench.clock.advance(3 * second);
    expect(phases(podlet)).toEqual({
      here: 'Running',
      there: 'Failed NodeAffinity',
      odd: 'Failed SysctlForbidden',
    });
    await podlet.stop();
  });
});

describe('a pod that says what cannot be honoured', () => {
  const apparmor = 'container.apparmor.security.beta.kubernetes.io/main';
  const seccomp = 'seccomp.security.alpha.kubernetes.io/pod';
  const withAnnotation = (key: string, value: string): Pod => {
    const pod = aPod();
    return { ...pod, metadata: { ...pod.metadata, annotations: { [key]: value } } };
  };
  const withMain = (more: object): Pod => aPod({ spec: { containers: [aContainer('main', more)] } });
  const withSpec = (spec: object): Pod => aPod({ spec });
  const odd = { name: 'v', mountPath: '/v', readOnly: false, subPathExpr: '$(NAME)' };
  const cases: [string, 'file' | 'api', Pod, string, RegExp][] = [
    [
      'an AppArmor profile in an annotation',
      'file',
      withAnnotation(apparmor, 'localhost/x'),
      'AppArmor',
      /not enabled/,
    ],
    [
      'AppArmor’s default in an annotation',
      'api',
      withAnnotation(apparmor, 'runtime/default'),
      'AppArmor',
      /not enabled/,
    ],
    [
      'an AppArmor profile in a field',
      'file',
      withMain({ securityContext: { appArmorProfile: { type: 'RuntimeDefault' } } }),
      'AppArmor',
      /not enabled/,
    ],
    ['no AppArmor profile', 'file', withAnnotation(apparmor, 'strict'), 'AppArmor', /"strict" is no profile/],
    [
      'AppArmor for no container',
      'file',
      withAnnotation(`${apparmor}x`, 'unconfined'),
      'AppArmor',
      /no container mainx/,
    ],
    ['no seccomp profile', 'file', withAnnotation(seccomp, 'localhost/../x'), 'Seccomp', /is no profile/],
    [
      'users of its own',
      'api',
      withSpec({ hostUsers: false }),
      'Unsupported',
      /spec\.hostUsers: is not supported/,
    ],
    [
      'strict groups',
      'api',
      withSpec({ securityContext: { supplementalGroupsPolicy: 'Strict' } }),
      'Unsupported',
      /supplementalGroupsPolicy/,
    ],
    ['claims', 'api', withSpec({ resourceClaims: [{ name: 'gpu' }] }), 'Unsupported', /spec\.resourceClaims/],
    [
      'resources of the pod',
      'api',
      withSpec({ resources: { limits: { cpu: '1' } } }),
      'Unsupported',
      /spec\.resources/,
    ],
    [
      'an unmasked /proc',
      'api',
      withMain({ securityContext: { procMount: 'Unmasked' } }),
      'Unsupported',
      /procMount/,
    ],
    [
      'a device',
      'api',
      withMain({ volumeDevices: [{ name: 'd', devicePath: '/dev/x' }] }),
      'Unsupported',
      /volumeDevices/,
    ],
    [
      'an extended resource',
      'api',
      withMain({ resources: { limits: { 'example.com/gpu': '1' } } }),
      'Unsupported',
      /example\.com\/gpu/,
    ],
    [
      'claims of a container',
      'api',
      withMain({ resources: { claims: [{ name: 'gpu' }] } }),
      'Unsupported',
      /resources\.claims/,
    ],
    ['a path that is to be expanded', 'api', withMain({ volumeMounts: [odd] }), 'Unsupported', /subPathExpr/],
  ];

  it.each(cases)('%s, from %s, stays pending with the reason', async (_, source, pod, reason, message) => {
    const recorder = recordCalls();
    const bench = createBench({ wrap: recorder.wrap, sources: [source] });
    const podlet = bench.start({ node: { ...node, appArmor: false } });
    bench[source].say([pod]);
    await bench.clock.advance(120 * second);
    const { status, events } = podlet.view('uid-web')!;
    expect(status).toMatchObject({
      phase: 'Pending',
      reason,
      message: expect.stringMatching(message) as string,
    });
    expect(status.containerStatuses[0]?.state.waiting?.reason).toBe('Blocked');
    expect(events.map((event) => `${event.reason} ${event.count}`)).toEqual([`${reason} 1`]);
    expect(changing(recorder.calls)).toEqual([]);
    bench[source].say([]);
    await bench.clock.settle();
    expect(podlet.pods()).toEqual([]);
    await podlet.stop();
  });

  const harmless: [string, 'file' | 'api', Pod][] = [
    ['unconfined by AppArmor', 'file', withAnnotation(apparmor, 'unconfined')],
    ['default seccomp', 'file', withAnnotation(seccomp, 'runtime/default')],
    ['users of the node', 'api', withSpec({ hostUsers: true, ephemeralContainers: [{ name: 'debug' }] })],
    ['empty lists', 'api', withSpec({ resourceClaims: [], resources: {} })],
    ['fields that are unknown here', 'api', withSpec({ futureField: { a: 1 } })],
  ];
  it.each(harmless)('%s, from %s, is none', async (_, source, pod) => {
    const bench = createBench({ sources: [source] });
    const podlet = bench.start({ node: { ...node, appArmor: false } });
    bench[source].say([pod]);
    await bench.clock.advance(3 * second);
    expect(podlet.view('uid-web')?.status).toMatchObject({ phase: 'Running' });
    await podlet.stop();
  });

  it('goes on when it runs, and begins when it says so no more', async () => {
    const bench = createBench({ sources: ['api'] });
    const podlet = bench.start({ node: { ...node, appArmor: false } });
    bench.api.say([withAnnotation(apparmor, 'localhost/x')]);
    await bench.clock.advance(3 * second);
    expect(phases(podlet)).toEqual({ web: 'Pending AppArmor' });
    bench.api.say([aPod()]);
    await bench.clock.advance(3 * second);
    expect(phases(podlet)).toEqual({ web: 'Running' });
    bench.api.say([withAnnotation(apparmor, 'localhost/x')]);
    await bench.clock.advance(3 * second);
    expect(phases(podlet)).toEqual({ web: 'Running' });
    await podlet.stop();
  });
});
