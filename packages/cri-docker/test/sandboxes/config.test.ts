import { NamespaceMode, PodSandboxConfig, SecurityProfile_ProfileType } from '@podwire/cri';
import { describe, expect, test } from 'vitest';
import { makeSandboxConfig, spellCgroupParent } from '../../src/sandboxes/config.js';

const environment = { image: 'pause:1', cgroupDriver: 'cgroupfs', ownerLabel: {}, leastOomScoreAdj: -1000 };
const make = (config: Parameters<typeof PodSandboxConfig.fromPartial>[0], more: object = {}) =>
  makeSandboxConfig(
    PodSandboxConfig.fromPartial({
      metadata: { name: 'web', namespace: 'default', uid: 'u' },
      ...config,
    }),
    { ...environment, ...more },
  );

test('what a plain pod’s sandbox is', async () => {
  expect(await make({ hostname: 'web', labels: { app: 'web' }, annotations: { note: 'x' } })).toEqual({
    Image: 'pause:1',
    Hostname: 'web',
    Labels: {
      app: 'web',
      'annotation.note': 'x',
      'io.kubernetes.docker.type': 'podsandbox',
      'io.kubernetes.container.name': 'POD',
    },
    ExposedPorts: {},
    HostConfig: {
      NetworkMode: 'none',
      IpcMode: 'shareable',
      Sysctls: {},
      OomScoreAdj: -998,
      CpuShares: 2,
      ShmSize: 67108864,
      PortBindings: {},
      ReadonlyRootfs: false,
      GroupAdd: [],
      SecurityOpt: ['seccomp=unconfined'],
      LogConfig: { Type: 'none', Config: {} },
    },
  });
});

test('namespaces of the host', async () => {
  const namespaceOptions = { network: NamespaceMode.NODE, ipc: NamespaceMode.NODE, pid: NamespaceMode.NODE };
  const config = await make({ hostname: 'web', linux: { securityContext: { namespaceOptions } } });
  expect(config.HostConfig).toMatchObject({ NetworkMode: 'host', IpcMode: 'host', PidMode: 'host' });
  expect(config).not.toHaveProperty('Hostname');
});

test('ports: exposed all, bound those with a port of the host', async () => {
  const config = await make({
    portMappings: [
      { protocol: 0, containerPort: 80, hostPort: 8080, hostIp: '' },
      { protocol: 0, containerPort: 80, hostPort: 8081, hostIp: '127.0.0.1' },
      { protocol: 1, containerPort: 53, hostPort: 0, hostIp: '' },
    ],
  });
  expect(Object.keys(config.ExposedPorts ?? {})).toEqual(['80/tcp', '53/udp']);
  expect(config.HostConfig.PortBindings).toEqual({
    '80/tcp': [
      { HostPort: '8080', HostIp: '' },
      { HostPort: '8081', HostIp: '127.0.0.1' },
    ],
  });
});

test('users, groups, sysctls and a runtime', async () => {
  const config = await make(
    {
      linux: {
        sysctls: { 'net.core.somaxconn': '1024' },
        securityContext: {
          runAsUser: { value: 1000n },
          runAsGroup: { value: 2000n },
          supplementalGroups: [3n, 4n],
          seccomp: { profileType: SecurityProfile_ProfileType.RuntimeDefault },
        },
      },
    },
    { runtime: 'kata', leastOomScoreAdj: -5 },
  );
  expect(config.User).toBe('1000:2000');
  expect(config.HostConfig).toMatchObject({
    GroupAdd: ['3', '4'],
    Sysctls: { 'net.core.somaxconn': '1024' },
    SecurityOpt: [],
    Runtime: 'kata',
    OomScoreAdj: -5,
  });
});

test('a group without a user is refused', async () => {
  const config = { linux: { securityContext: { runAsGroup: { value: 1n } } } };
  await expect(make(config)).rejects.toThrow(/run_as_group is given without a user/);
});

describe('cgroup parents', () => {
  test.each([
    ['/kubepods/burstable/pod1', 'cgroupfs', '/kubepods/burstable/pod1'],
    ['/kubepods.slice/kubepods-pod1.slice', 'systemd', 'kubepods-pod1.slice'],
    ['', 'systemd', ''],
  ])('%s with %s', (parent, driver, spelled) => expect(spellCgroupParent(parent, driver)).toBe(spelled));

  test('no slice with systemd is refused', () =>
    expect(() => spellCgroupParent('/kubepods', 'systemd')).toThrow(/is no slice/));
});
