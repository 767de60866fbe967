/** Docker's configuration for a container of a pod. */
import path from 'node:path';
import {
  type ContainerConfig,
  CriError,
  type LinuxContainerResources,
  type LinuxContainerSecurityContext,
  MountPropagation,
  type PodSandboxConfig,
} from '@podwire/cri';
import { compact } from '@podwire/platform';
import type { CreateConfig, DeviceConfig, HostConfig, MountConfig, ResourceConfig } from '../docker/index.js';
import { containerType, encodeLabels, labelKeys } from '../labels.js';
import { shmSize, spellCgroupParent } from '../sandboxes/config.js';
import { containerModes } from '../sandboxes/namespaces.js';
import { makeSecurityOptions, makeUser } from '../sandboxes/security.js';

export interface ContainerEnvironment {
  readonly sandboxId: string;
  readonly hostNetwork: boolean;
  /** Runtime of the sandbox, which its containers share; Docker's default when absent. */
  readonly runtime: string | undefined;
  readonly cgroupDriver: string;
  readonly ownerLabel: Readonly<Record<string, string>>;
  readonly leastOomScoreAdj: number;
}

/** Docker keeps a log of its own, from which the CRI log is written; after that it is not needed. */
const dockerLog = { Type: 'json-file', Config: { 'max-size': '16m', 'max-file': '2' } } as const;

/** @throws CriError INVALID_ARGUMENT */
export async function makeContainerConfig(
  config: ContainerConfig,
  sandbox: PodSandboxConfig | undefined,
  environment: ContainerEnvironment,
): Promise<CreateConfig> {
  if (config.CDIDevices.length > 0) {
    throw new CriError('INVALID_ARGUMENT', 'Docker Engine is not told of CDI devices');
  }
  const security = config.linux?.securityContext;
  const user = makeUser(security?.runAsUser, security?.runAsGroup, security?.runAsUsername);
  return {
    Image: config.image?.image ?? '',
    ...compact({ User: user }),
    Labels: encodeLabels(config.labels, config.annotations, {
      [labelKeys.type]: containerType,
      [labelKeys.sandboxId]: environment.sandboxId,
      [labelKeys.logPath]: makeLogPath(config, sandbox),
      ...environment.ownerLabel,
    }),
    Env: config.envs.map(({ key, value }) => `${key}=${value}`),
    // An empty list is "the image's"; Docker needs nothing at all for that.
    ...(config.command.length === 0 ? {} : { Entrypoint: config.command }),
    ...(config.args.length === 0 ? {} : { Cmd: config.args }),
    ...(config.workingDir === '' ? {} : { WorkingDir: config.workingDir }),
    Tty: config.tty,
    OpenStdin: config.stdin,
    StdinOnce: config.stdinOnce,
    // Pods have probes of their own.
    Healthcheck: { Test: ['NONE'] },
    HostConfig: await makeHostConfig(config, sandbox, environment),
  };
}

/** The whole path of the log; empty when none is kept. */
export function makeLogPath(config: ContainerConfig, sandbox: PodSandboxConfig | undefined): string {
  if (config.logPath === '' || (sandbox?.logDirectory ?? '') === '') return '';
  return path.join(sandbox?.logDirectory ?? '', config.logPath);
}

async function makeHostConfig(
  { mounts, devices, linux }: ContainerConfig,
  sandbox: PodSandboxConfig | undefined,
  { sandboxId, hostNetwork, runtime, cgroupDriver, leastOomScoreAdj }: ContainerEnvironment,
): Promise<HostConfig> {
  const security = linux?.securityContext;
  const cgroupParent = spellCgroupParent(sandbox?.linux?.cgroupParent ?? '', cgroupDriver);
  return {
    ...containerModes(sandboxId, security?.namespaceOptions, hostNetwork),
    ...makeResources(linux?.resources),
    ...(linux?.resources === undefined
      ? {}
      : { OomScoreAdj: Math.max(Number(linux.resources.oomScoreAdj), leastOomScoreAdj) }),
    ...(cgroupParent === '' ? {} : { CgroupParent: cgroupParent }),
    ...makeMounts(mounts),
    Devices: devices.map(toDevice),
    ShmSize: shmSize,
    ...(await makeSecurity(security)),
    ...compact({ Runtime: runtime }),
    LogConfig: dockerLog,
  };
}

async function makeSecurity(
  security: LinuxContainerSecurityContext | undefined,
): Promise<Partial<HostConfig>> {
  const { addCapabilities = [], dropCapabilities = [] } = security?.capabilities ?? {};
  const isPrivileged = security?.privileged ?? false;
  return {
    Privileged: isPrivileged,
    ReadonlyRootfs: security?.readonlyRootfs ?? false,
    CapAdd: addCapabilities,
    CapDrop: dropCapabilities,
    GroupAdd: (security?.supplementalGroups ?? []).map(String),
    SecurityOpt: await makeSecurityOptions(security ?? {}),
    // Absent lists are Docker's own defaults, empty ones would be none at all.
    ...(isPrivileged || !security?.maskedPaths.length ? {} : { MaskedPaths: security.maskedPaths }),
    ...(isPrivileged || !security?.readonlyPaths.length ? {} : { ReadonlyPaths: security.readonlyPaths }),
  };
}

/** Values that are 0 or empty are left out. */
export function makeResources(resources: LinuxContainerResources | undefined): ResourceConfig {
  if (resources === undefined) return {};
  const { cpuPeriod, cpuQuota, cpuShares, memoryLimitInBytes: memory, cpusetCpus, cpusetMems } = resources;
  // Docker's default is as much swap again as there is memory; a limit means memory only, unless it says otherwise.
  const swap = resources.memorySwapLimitInBytes === 0n ? memory : resources.memorySwapLimitInBytes;
  return {
    ...(cpuPeriod === 0n ? {} : { CpuPeriod: Number(cpuPeriod) }),
    ...(cpuQuota === 0n ? {} : { CpuQuota: Number(cpuQuota) }),
    ...(cpuShares === 0n ? {} : { CpuShares: Number(cpuShares) }),
    ...(cpusetCpus === '' ? {} : { CpusetCpus: cpusetCpus }),
    ...(cpusetMems === '' ? {} : { CpusetMems: cpusetMems }),
    ...(memory === 0n ? {} : { Memory: Number(memory), MemorySwap: Number(swap) }),
  };
}

type Mount = ContainerConfig['mounts'][number];

/**
 * Docker makes the source of a `Bind` where it is missing, a `Mount` is refused then, as the interface has it. Only a bind can
 * be relabelled for SELinux.
 */
function makeMounts(mounts: readonly Mount[]): Pick<HostConfig, 'Binds' | 'Mounts'> {
  return {
    Binds: mounts.filter((mount) => mount.selinuxRelabel).map(toBind),
    Mounts: mounts.filter((mount) => !mount.selinuxRelabel).map(toMount),
  };
}

const propagations = new Map<MountPropagation, 'rprivate' | 'rslave' | 'rshared'>([
  [MountPropagation.PROPAGATION_PRIVATE, 'rprivate'],
  [MountPropagation.PROPAGATION_HOST_TO_CONTAINER, 'rslave'],
  [MountPropagation.PROPAGATION_BIDIRECTIONAL, 'rshared'],
]);

function toMount({ hostPath, containerPath, readonly, propagation }: Mount): MountConfig {
  return {
    Type: 'bind',
    Source: hostPath,
    Target: containerPath,
    ReadOnly: readonly,
    BindOptions: { Propagation: propagations.get(propagation) ?? 'rprivate' },
  };
}

function toBind({ hostPath, containerPath, readonly, propagation }: Mount): string {
  if (/:/.test(hostPath + containerPath)) {
    throw new CriError(
      'INVALID_ARGUMENT',
      `${hostPath} → ${containerPath}: Docker cannot relabel paths with a colon`,
    );
  }
  const options = [...(readonly ? ['ro'] : []), 'Z', propagations.get(propagation) ?? 'rprivate'];
  return `${hostPath}:${containerPath}:${options.join(',')}`;
}

function toDevice({
  hostPath,
  containerPath,
  permissions,
}: ContainerConfig['devices'][number]): DeviceConfig {
  return { PathOnHost: hostPath, PathInContainer: containerPath, CgroupPermissions: permissions };
}
