import { ContainerConfig, MountPropagation, NamespaceMode, PodSandboxConfig } from '@podwire/cri';
import { describe, expect, test } from 'vitest';
import { makeContainerConfig, makeResources } from '../../src/containers/config.js';
import { describeState } from '../../src/containers/describe.js';
import type { InspectedContainer } from '../../src/docker/index.js';

const environment = {
  sandboxId: 'abc',
  hostNetwork: false,
  runtime: undefined,
  cgroupDriver: 'cgroupfs',
  ownerLabel: {},
  leastOomScoreAdj: -1000,
};
const sandbox = PodSandboxConfig.fromPartial({
  logDirectory: '/logs/pod',
  linux: { cgroupParent: '/pods/1' },
});
const make = (config: Parameters<typeof ContainerConfig.fromPartial>[0], more: object = {}) =>
  makeContainerConfig(
    ContainerConfig.fromPartial({
      metadata: { name: 'main' },
      image: { image: 'busybox:1' },
      ...config,
    }),
    sandbox,
    { ...environment, ...more },
  );

test('a container joins its sandbox', async () => {
  const config = await make({
    command: ['/bin/sh'],
    args: ['-c', 'true'],
    envs: [{ key: 'A', value: 'b=c' }],
    labels: { 'io.kubernetes.container.name': 'main' },
    annotations: { note: 'x' },
    logPath: 'main/0.log',
    workingDir: '/tmp',
  });
  expect(config).toMatchObject({
    Image: 'busybox:1',
    Entrypoint: ['/bin/sh'],
    Cmd: ['-c', 'true'],
    Env: ['A=b=c'],
    WorkingDir: '/tmp',
    Labels: {
      'io.kubernetes.container.name': 'main',
      'annotation.note': 'x',
      'io.kubernetes.docker.type': 'container',
      'io.kubernetes.sandbox.id': 'abc',
      'io.kubernetes.container.logpath': '/logs/pod/main/0.log',
    },
    HostConfig: { NetworkMode: 'container:abc', IpcMode: 'container:abc', CgroupParent: '/pods/1' },
  });
  expect(config).not.toHaveProperty('User');
});

test.each([
  [NamespaceMode.POD, 'container:abc'],
  [NamespaceMode.CONTAINER, undefined],
  [NamespaceMode.NODE, 'host'],
  [NamespaceMode.TARGET, 'container:other'],
])('processes are seen as mode %s says', async (pid, mode) => {
  const namespaceOptions = { pid, targetId: 'other' };
  const { HostConfig } = await make({ linux: { securityContext: { namespaceOptions } } });
  expect(HostConfig.PidMode).toBe(mode);
});

test('with the host’s network it has the host’s name', async () => {
  expect((await make({}, { hostNetwork: true })).HostConfig.UTSMode).toBe('host');
});

test('mounts are refused where the source is missing, and binds only where SELinux needs them', async () => {
  const { HostConfig } = await make({
    mounts: [
      {
        ...{ hostPath: '/a:b', containerPath: '/in', readonly: true },
        propagation: MountPropagation.PROPAGATION_HOST_TO_CONTAINER,
      },
      { hostPath: '/c', containerPath: '/d', selinuxRelabel: true, readonly: true },
    ],
  });
  expect(HostConfig.Mounts).toEqual([
    { Type: 'bind', Source: '/a:b', Target: '/in', ReadOnly: true, BindOptions: { Propagation: 'rslave' } },
  ]);
  expect(HostConfig.Binds).toEqual(['/c:/d:ro,Z,rprivate']);
});

test('rights of a container', async () => {
  const config = await make({
    linux: {
      securityContext: {
        capabilities: { addCapabilities: ['NET_ADMIN'], dropCapabilities: ['ALL'] },
        runAsUsername: 'www',
        readonlyRootfs: true,
        noNewPrivs: true,
        supplementalGroups: [7n],
        maskedPaths: ['/proc/kcore'],
        apparmorProfile: 'localhost/mine',
      },
    },
  });
  expect(config.User).toBe('www');
  expect(config.HostConfig).toMatchObject({
    CapAdd: ['NET_ADMIN'],
    CapDrop: ['ALL'],
    ReadonlyRootfs: true,
    GroupAdd: ['7'],
    MaskedPaths: ['/proc/kcore'],
    SecurityOpt: ['seccomp=unconfined', 'apparmor=mine', 'no-new-privileges'],
  });
});

describe('resources', () => {
  const base = {
    ...{ cpuPeriod: 0n, cpuQuota: 0n, cpuShares: 0n, memoryLimitInBytes: 0n, oomScoreAdj: 0n },
    ...{ cpusetCpus: '', cpusetMems: '', hugepageLimits: [], unified: {}, memorySwapLimitInBytes: 0n },
  };
  test.each([
    [{}, {}],
    [
      { cpuShares: 102n, cpuQuota: 5000n, cpuPeriod: 100000n },
      { CpuShares: 102, CpuQuota: 5000, CpuPeriod: 100000 },
    ],
    [{ memoryLimitInBytes: 1024n }, { Memory: 1024, MemorySwap: 1024 }],
    [
      { memoryLimitInBytes: 1024n, memorySwapLimitInBytes: -1n },
      { Memory: 1024, MemorySwap: -1 },
    ],
    [
      { cpusetCpus: '0-1', cpusetMems: '0' },
      { CpusetCpus: '0-1', CpusetMems: '0' },
    ],
  ])('%#', (given, made) => expect(makeResources({ ...base, ...given })).toEqual(made));
});

describe('the state of a container', () => {
  const zero = '0001-01-01T00:00:00Z';
  const state = (more: object): InspectedContainer =>
    ({
      Created: '2026-11-20T21:00:00Z',
      State: {
        Status: '',
        Running: false,
        OOMKilled: false,
        ExitCode: 0,
        Error: '',
        StartedAt: zero,
        FinishedAt: zero,
        ...more,
      },
    }) as unknown as InspectedContainer;
  const ran = { StartedAt: '2026-11-20T21:00:01Z', FinishedAt: '2026-11-20T21:00:02.5Z' };
  test.each([
    ['created', {}, { state: 0, reason: '', startedAt: 0n }],
    [
      'running',
      { Running: true, StartedAt: ran.StartedAt },
      { state: 1, startedAt: 1795208401000000000n, finishedAt: 0n },
    ],
    ['completed', ran, { state: 2, reason: 'Completed', exitCode: 0, finishedAt: 1795208402500000000n }],
    ['failed', { ...ran, ExitCode: 3 }, { state: 2, reason: 'Error', exitCode: 3 }],
    [
      'out of memory',
      { ...ran, ExitCode: 137, OOMKilled: true },
      { state: 2, reason: 'OOMKilled', exitCode: 137 },
    ],
    [
      'never started',
      { ExitCode: 127, Error: 'no such file' },
      { state: 2, reason: 'ContainerCannotRun', message: 'no such file', startedAt: 1795208400000000000n },
    ],
  ])('%s', (_name, given, expected) => expect(describeState(state(given))).toMatchObject(expected));
});
