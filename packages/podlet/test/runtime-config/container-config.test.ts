import { MountPropagation, SecurityProfile_ProfileType } from '@podwire/cri';
import { describe, expect, test } from 'vitest';
import type { ContainerConfigRequest, ImageUser } from '../../src/parts.js';
import type { Container, PodSecurityContext } from '@podwire/pod-spec';
import { buildContainerConfig } from '../../src/runtime-config/container-config.js';
import { readContainerIdentity } from '../../src/runtime-config/identity.js';
import { makeContainer, makePod } from './make-pod.js';

function makeRequest(
  container: Container,
  changes: Partial<ContainerConfigRequest> = {},
): ContainerConfigRequest {
  return {
    pod: makePod({ containers: [container] }, { labels: { app: 'web' } }),
    container,
    attempt: 2,
    prepared: { mounts: new Map(), configMaps: new Map() },
    addresses: ['10.1.0.7'],
    imageRef: 'sha256:abc',
    node: {
      name: 'node-1',
      addresses: ['192.0.2.10'],
      resolvConf: () => Promise.resolve(''),
      hosts: () => Promise.resolve(''),
      clusterDns: [],
      clusterDomain: 'cluster.local',
      oomScoreAdjustment: 0,
    },
    directories: { root: '/var/lib/podwire', logs: '/var/log/pods' },
    ...changes,
  };
}
const build = (container: Partial<Container>, changes: Partial<ContainerConfigRequest> = {}) =>
  buildContainerConfig(makeRequest(makeContainer(container), changes));

test('command, arguments and environment are expanded', () => {
  const config = build({
    command: ['serve', '$(PORT)'],
    args: ['--ip=$(IP)', '$$(PORT)', '$(NOWHERE)'],
    env: [
      { name: 'PORT', value: '80' },
      { name: 'IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
    ],
  });
  expect(config).toMatchObject({
    command: ['serve', '80'],
    args: ['--ip=10.1.0.7', '$(PORT)', '$(NOWHERE)'],
    envs: [
      { key: 'PORT', value: '80' },
      { key: 'IP', value: '10.1.0.7' },
    ],
    metadata: { name: 'main', attempt: 2 },
    image: { image: 'sha256:abc', userSpecifiedImage: 'busybox' },
    logPath: 'main/2.log',
    linux: { resources: { oomScoreAdj: 0n, cpuShares: 2n } },
  });
});

describe('mounts', () => {
  const managed = { hostsFile: '/p/etc-hosts', terminationLog: '/p/log' };
  const paths = (volumes: readonly string[], request: Partial<ContainerConfigRequest> = managed) => {
    const mounts = volumes.map((containerPath) => ({ hostPath: '/v', containerPath, readOnly: true }));
    const prepared = { mounts: new Map([['main', mounts]]), configMaps: new Map() };
    return build({}, { ...request, prepared }).mounts.map(({ containerPath, hostPath, readonly }) =>
      [containerPath, hostPath, readonly].join(' '),
    );
  };

  const asked = (
    more: object,
    request: Partial<ContainerConfigRequest> = {},
    container: Partial<Container> = {},
  ) => {
    const mounts = [{ hostPath: '/v', containerPath: '/data', readOnly: true, ...more }];
    const prepared = { mounts: new Map([['main', mounts]]), configMaps: new Map() };
    return build(container, { ...request, prepared }).mounts[0];
  };
  const privileged = { securityContext: { privileged: true } };

  test.each([
    ['None', {}, MountPropagation.PROPAGATION_PRIVATE],
    ['HostToContainer', {}, MountPropagation.PROPAGATION_HOST_TO_CONTAINER],
    ['Bidirectional', privileged, MountPropagation.PROPAGATION_BIDIRECTIONAL],
  ])('mountPropagation %s', (mountPropagation, container, propagation) => {
    expect(asked({ mountPropagation }, {}, container)).toMatchObject({ propagation });
  });

  test.each([
    ['Disabled', true, false],
    ['IfPossible', true, true],
    ['IfPossible', false, false],
    ['Enabled', true, true],
  ])('recursiveReadOnly %s with a runtime that can do it: %s', (wanted, can, recursiveReadOnly) => {
    const mount = asked({ recursiveReadOnly: wanted }, { recursiveReadOnly: can });
    expect(mount).toMatchObject({ readonly: true, recursiveReadOnly });
  });

  test.each([
    [{ mountPropagation: 'Bidirectional' }, /needs a privileged container/],
    [{ mountPropagation: 'Both' }, /is unknown/],
    [{ recursiveReadOnly: 'Enabled' }, /this runtime cannot do that/],
    [{ recursiveReadOnly: 'IfPossible', readOnly: false }, /needs readOnly/],
    [{ recursiveReadOnly: 'IfPossible', mountPropagation: 'HostToContainer' }, /cannot be had/],
  ])('%j is refused, also of a pod of the API', (more, words) => {
    expect(() => asked(more)).toThrow(words);
  });

  test('volumes, the hosts file and the termination log', () => {
    expect(paths(['/data'])).toEqual([
      '/data /v true',
      '/etc/hosts /p/etc-hosts false',
      '/dev/termination-log /p/log false',
    ]);
  });

  test('a volume at a managed place has precedence', () => {
    expect(paths(['/etc/hosts/'])).toEqual(['/etc/hosts/ /v true', '/dev/termination-log /p/log false']);
  });

  test('relative paths begin at the root', () => expect(paths(['data'], {})).toEqual(['/data /v true']));
});

test('what a container says of itself can be read again', () => {
  const container = makeContainer({
    name: 'api',
    ports: [{ name: 'http', containerPort: 80, protocol: 'TCP' }],
    lifecycle: { preStop: { exec: { command: ['/bin/drain', '{"a":1}'] } } },
    terminationMessagePolicy: 'FallbackToLogsOnError',
  });
  const { labels, annotations } = buildContainerConfig(makeRequest(container));
  expect(labels['app']).toBe('web');
  const { hash, ...identity } = readContainerIdentity(labels, annotations)!;
  expect(hash).not.toBe('');
  expect(identity).toEqual({
    pod: { name: 'web', namespace: 'shop', uid: makePod().metadata.uid },
    name: 'api',
    restartCount: 2,
    ports: container.ports,
    preStop: container.lifecycle?.preStop,
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'FallbackToLogsOnError',
    gracePeriodSeconds: 30,
  });
});

test('containers of others are not taken for ours, and broken annotations are passed over', () => {
  const { labels } = build({});
  expect(readContainerIdentity({ 'io.kubernetes.container.name': 'main' }, {})).toBeUndefined();
  expect(readContainerIdentity({ ...labels, 'io.kubernetes.container.name': '' }, {})).toBeUndefined();
  const broken = {
    'io.kubernetes.container.ports': '[{',
    'io.kubernetes.container.restartCount': 'x',
    'io.kubernetes.container.terminationMessagePolicy': 'Never',
  };
  expect(readContainerIdentity(labels, broken)).toEqual({
    pod: expect.objectContaining({ name: 'web' }) as unknown,
    name: 'main',
    hash: '',
    restartCount: 0,
    ports: [],
  });
});

describe('users', () => {
  const security = (pod: PodSecurityContext, own: Container['securityContext'], imageUser?: ImageUser) => {
    const container = makeContainer({ securityContext: own });
    const request = makeRequest(container, {
      pod: makePod({ containers: [container], securityContext: pod }),
      ...(imageUser !== undefined && { imageUser }),
    });
    return buildContainerConfig(request).linux!.securityContext!;
  };

  test('the container’s words count before the pod’s', () => {
    expect(security({ runAsUser: 1, runAsGroup: 2 }, {})).toMatchObject({
      runAsUser: { value: 1n },
      runAsGroup: { value: 2n },
    });
    expect(security({ runAsUser: 1, runAsGroup: 2 }, { runAsUser: 3 })).toMatchObject({
      runAsUser: { value: 3n },
      runAsGroup: { value: 2n },
    });
    expect(security({}, {})).not.toHaveProperty('runAsUser');
  });

  test('a group alone gets the image’s user beside it', () => {
    expect(security({ runAsGroup: 5 }, {}, { uid: 33 })).toMatchObject({ runAsUser: { value: 33n } });
    expect(security({ runAsGroup: 5 }, {}, { username: 'www' })).toMatchObject({ runAsUsername: 'www' });
    expect(security({ runAsGroup: 5 }, {}, {})).toMatchObject({ runAsUser: { value: 0n } });
  });

  test.each([
    [{ runAsNonRoot: true }, {}, undefined, /not known/],
    [{ runAsNonRoot: true }, {}, {}, /image runs as root/],
    [{ runAsNonRoot: true }, {}, { uid: 0 }, /image runs as root/],
    [{ runAsNonRoot: true }, {}, { username: 'www' }, /names its user/],
    [{ runAsNonRoot: true }, { runAsUser: 0 }, { uid: 5 }, /runAsUser is 0/],
    [{}, { runAsNonRoot: true }, { uid: 0 }, /shop\/web, container main/],
  ])('root is refused: %j %j %j', (pod, own, imageUser, message) => {
    expect(() => security(pod, own, imageUser)).toThrow(message);
  });

  test.each([
    [{ runAsNonRoot: true }, {}, { uid: 5 }],
    [{ runAsNonRoot: true, runAsUser: 7 }, {}, undefined],
    [{ runAsNonRoot: true }, { runAsNonRoot: false }, undefined],
  ])('and others are not: %j %j %j', (pod, own, imageUser) => {
    expect(() => security(pod, own, imageUser)).not.toThrow();
  });

  test('capabilities, privilege and the rest', () => {
    const own = {
      privileged: true,
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
      capabilities: { add: ['NET_ADMIN'], drop: ['ALL'] },
    };
    expect(security({ fsGroup: 9 }, own)).toMatchObject({
      privileged: true,
      readonlyRootfs: true,
      noNewPrivs: true,
      capabilities: { addCapabilities: ['NET_ADMIN'], dropCapabilities: ['ALL'] },
      supplementalGroups: [9n],
    });
    expect(security({}, {})).toMatchObject({ privileged: false, readonlyRootfs: false, noNewPrivs: false });
  });
});

describe('confinement', () => {
  const { RuntimeDefault, Unconfined, Localhost } = SecurityProfile_ProfileType;
  const profiles = (own: object, pod: object = {}, annotations: Record<string, string> = {}) => {
    const container = makeContainer({ securityContext: own });
    const spec = { containers: [container], securityContext: pod };
    const config = buildContainerConfig(makeRequest(container, { pod: makePod(spec, { annotations }) }));
    const { seccomp, seccompProfilePath, apparmor, selinuxOptions } = config.linux!.securityContext!;
    return { seccomp, seccompProfilePath, apparmor, selinuxOptions };
  };

  test.each([
    [{ type: 'RuntimeDefault' }, { profileType: RuntimeDefault, localhostRef: '' }, 'runtime/default'],
    [{ type: 'Unconfined' }, { profileType: Unconfined, localhostRef: '' }, 'unconfined'],
    [
      { type: 'Localhost', localhostProfile: 'web/strict.json' },
      { profileType: Localhost, localhostRef: '/var/lib/podwire/seccomp/web/strict.json' },
      'localhost//var/lib/podwire/seccomp/web/strict.json',
    ],
  ])('seccomp %j, for new and old runtimes', (seccompProfile, seccomp, seccompProfilePath) => {
    expect(profiles({ seccompProfile })).toMatchObject({ seccomp, seccompProfilePath });
    expect(profiles({}, { seccompProfile })).toMatchObject({ seccomp, seccompProfilePath });
    expect(profiles({ seccompProfile }, { seccompProfile: { type: 'Unconfined' } })).toMatchObject({
      seccomp,
    });
  });

  test('nothing is asked for where nothing is said', () => {
    expect(profiles({})).toEqual({ seccompProfilePath: '' });
  });

  test('annotations count where a field says nothing, those of the container before what the pod says', () => {
    const beta = 'security.beta.kubernetes.io/main';
    const alpha = 'seccomp.security.alpha.kubernetes.io';
    const apparmor = (value: string) => ({ [`container.apparmor.${beta}`]: value });
    const ofContainer = (value: string) => ({ [`container.${alpha}/main`]: value });
    const ofPod = (value: string) => ({ [`${alpha}/pod`]: value });
    expect(profiles({}, {}, apparmor('localhost/web'))).toMatchObject({
      apparmor: { profileType: Localhost, localhostRef: 'web' },
    });
    expect(
      profiles({ appArmorProfile: { type: 'Unconfined' } }, {}, apparmor('localhost/web')),
    ).toMatchObject({
      apparmor: { profileType: Unconfined },
    });
    const paths = [
      profiles({}, {}, ofPod('runtime/default')),
      profiles({}, {}, ofPod('docker/default')),
      profiles({}, {}, { ...ofPod('unconfined'), ...ofContainer('localhost/web.json') }),
      profiles({}, { seccompProfile: { type: 'RuntimeDefault' } }, ofContainer('unconfined')),
      profiles({}, { seccompProfile: { type: 'RuntimeDefault' } }, ofPod('unconfined')),
      profiles({ seccompProfile: { type: 'RuntimeDefault' } }, {}, ofContainer('unconfined')),
    ].map(({ seccompProfilePath }) => seccompProfilePath);
    expect(paths).toEqual([
      'runtime/default',
      'runtime/default',
      'localhost//var/lib/podwire/seccomp/web.json',
      'unconfined',
      'runtime/default',
      'runtime/default',
    ]);
  });

  test('AppArmor and SELinux', () => {
    expect(profiles({ appArmorProfile: { type: 'Localhost', localhostProfile: 'web' } })).toMatchObject({
      apparmor: { profileType: Localhost, localhostRef: 'web' },
    });
    expect(profiles({ appArmorProfile: { type: 'Surprise' } })).toMatchObject({
      apparmor: { profileType: RuntimeDefault },
    });
    expect(
      profiles({ seLinuxOptions: { level: 's0:c1' } }, { seLinuxOptions: { level: 's0' } }),
    ).toMatchObject({
      selinuxOptions: { user: '', role: '', type: '', level: 's0:c1' },
    });
  });
});
