/** Docker's configuration for a sandbox: a function of the request alone, but for files of security profiles. */
import path from 'node:path';
import {
  CriError,
  type LinuxSandboxSecurityContext,
  NamespaceMode,
  type PodSandboxConfig,
} from '@podwire/cri';
import { compact } from '@podwire/platform';
import { protocolName } from '../checkpoint/checkpoint.js';
import type { CreateConfig, HostConfig, PortBinding } from '../docker/index.js';
import { encodeLabels, labelKeys, sandboxType } from '../labels.js';
import { sandboxContainerName } from '../names.js';
import { sandboxModes } from './namespaces.js';
import { makeSecurityOptions, makeUser } from './security.js';

export interface SandboxEnvironment {
  readonly image: string;
  readonly cgroupDriver: string;
  readonly ownerLabel: Readonly<Record<string, string>>;
  readonly leastOomScoreAdj: number;
  /** One of Docker's runtimes; Docker's default when absent. */
  readonly runtime?: string | undefined;
}

/** The last to be killed when memory runs out, and the least share of the processor: it only waits. */
const sandboxOomScoreAdj = -998;
const sandboxCpuShares = 2;
/** bytes; Docker's own default, said so that a daemon's setting does not change it */
export const shmSize = 64 * 1024 * 1024;

/** @throws CriError INVALID_ARGUMENT */
export async function makeSandboxConfig(
  config: PodSandboxConfig,
  environment: SandboxEnvironment,
): Promise<CreateConfig> {
  const security = config.linux?.securityContext;
  if (security?.namespaceOptions?.usernsOptions?.mode === NamespaceMode.POD) {
    // Docker has one mapping for all of its containers.
    throw new CriError('INVALID_ARGUMENT', 'Docker Engine has no user namespaces of their own for pods');
  }
  const user = makeUser(security?.runAsUser, security?.runAsGroup);
  const ports = config.portMappings.filter((mapping) => mapping.containerPort > 0);
  return {
    Image: environment.image,
    ...(isOnHost(security) ? {} : { Hostname: config.hostname }),
    ...compact({ User: user }),
    Labels: encodeLabels(config.labels, config.annotations, {
      [labelKeys.type]: sandboxType,
      [labelKeys.containerName]: sandboxContainerName,
      ...environment.ownerLabel,
    }),
    ExposedPorts: Object.fromEntries(ports.map((port) => [exposedPort(port), {}])),
    HostConfig: await makeHostConfig(config, environment),
  };
}

async function makeHostConfig(
  { linux, portMappings }: PodSandboxConfig,
  { cgroupDriver, leastOomScoreAdj, runtime }: SandboxEnvironment,
): Promise<HostConfig> {
  const security = linux?.securityContext;
  const cgroupParent = spellCgroupParent(linux?.cgroupParent ?? '', cgroupDriver);
  return {
    ...sandboxModes(security?.namespaceOptions),
    Sysctls: linux?.sysctls ?? {},
    OomScoreAdj: Math.max(sandboxOomScoreAdj, leastOomScoreAdj),
    CpuShares: sandboxCpuShares,
    ShmSize: shmSize,
    ...(cgroupParent === '' ? {} : { CgroupParent: cgroupParent }),
    PortBindings: makePortBindings(portMappings),
    ReadonlyRootfs: security?.readonlyRootfs ?? false,
    GroupAdd: (security?.supplementalGroups ?? []).map(String),
    SecurityOpt: await makeSecurityOptions(security ?? {}),
    // The output of the sandbox's process is not needed.
    LogConfig: { Type: 'none', Config: {} },
    ...compact({ Runtime: runtime }),
  };
}

const isOnHost = (security: LinuxSandboxSecurityContext | undefined): boolean =>
  sandboxModes(security?.namespaceOptions).NetworkMode === 'host';

/** With the systemd driver Docker takes the name of a slice, which contains the names of all those above it. */
export function spellCgroupParent(parent: string, driver: string): string {
  if (driver !== 'systemd' || parent === '') return parent;
  const slice = path.basename(parent);
  if (slice.endsWith('.slice')) return slice;
  throw new CriError(
    'INVALID_ARGUMENT',
    `cgroup_parent ${parent} is no slice, and the cgroup driver is systemd`,
  );
}

type Port = PodSandboxConfig['portMappings'][number];

const exposedPort = ({ containerPort, protocol }: Port): string =>
  `${containerPort}/${protocolName(protocol)}`;

/** Only for people who look with `docker inspect`: in the network mode `none` Docker does nothing with them. */
function makePortBindings(mappings: readonly Port[]): Record<string, PortBinding[]> {
  const bindings: Record<string, PortBinding[]> = {};
  for (const mapping of mappings.filter(({ hostPort }) => hostPort > 0)) {
    const binding = { HostPort: String(mapping.hostPort), HostIp: mapping.hostIp };
    (bindings[exposedPort(mapping)] ??= []).push(binding);
  }
  return bindings;
}
