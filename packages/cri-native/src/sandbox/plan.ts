/** Plans a sandbox: pure functions of its configuration. */
import { CriError, NamespaceMode, type PodSandboxConfig } from '@podwire/cri';
import { compact } from '@podwire/platform';
import type { PodAttachment } from '@podwire/pod-network';
import type { Instruction } from '../native/instruction.js';
import type { SandboxRecord } from '../state/record.js';

export type Sharing = 'own' | 'pod' | 'host';

export interface SandboxNamespaces {
  readonly network: 'pod' | 'host';
  readonly ipc: 'pod' | 'host';
  /** Of each container, unless it says something else itself. */
  readonly pid: Sharing;
}

/**
 * A sandbox that says nothing of namespaces gets its own network and IPC namespace, and its containers each a PID
 * namespace. One that does say something says it for all three (0 is POD).
 */
export function namespacesOf(config: PodSandboxConfig): SandboxNamespaces {
  const options = config.linux?.securityContext?.namespaceOptions;
  if (options === undefined) return { network: 'pod', ipc: 'pod', pid: 'own' };
  const isNode = (mode: number): boolean => mode === NamespaceMode.NODE;
  const pid = isNode(options.pid) ? 'host' : options.pid === NamespaceMode.POD ? 'pod' : 'own';
  return {
    network: isNode(options.network) ? 'host' : 'pod',
    ipc: isNode(options.ipc) ? 'host' : 'pod',
    pid,
  };
}

/** @throws CriError INVALID_ARGUMENT for what cannot be had here */
export function checkSandbox(config: PodSandboxConfig, runtimeHandler: string): void {
  if (runtimeHandler !== '')
    throw new CriError('INVALID_ARGUMENT', `there is no runtime handler ${runtimeHandler}`);
  const options = config.linux?.securityContext?.namespaceOptions;
  if (options?.usernsOptions?.mode === NamespaceMode.POD)
    throw new CriError('INVALID_ARGUMENT', 'the embedded runtime has no user namespaces');
  const { network, ipc } = namespacesOf(config);
  for (const name of Object.keys(config.linux?.sysctls ?? {})) {
    const kind = kindOfSysctl(name);
    if (kind === undefined || (kind === 'network' ? network : ipc) === 'host')
      throw new CriError('INVALID_ARGUMENT', `sysctl ${name} is not one of the pod's own namespaces`);
  }
}

const ofIpc = /^(kernel\/(shm[a-z_]*|msg[a-z_]*|sem[a-z_]*)|fs\/mqueue\/[a-z_]+)$/;

const isPart = (part: string): boolean => /^[A-Za-z0-9_.-]+$/.test(part) && part !== '.' && part !== '..';

/** Looks at the path that will be written to, for that is where separators have their meaning. */
function kindOfSysctl(name: string): 'network' | 'ipc' | undefined {
  const path = sysctlPath(name);
  if (!path.split('/').every(isPart)) return undefined;
  if (path.startsWith('net/')) return 'network';
  return ofIpc.test(path) ? 'ipc' : undefined;
}

/** `net.ipv4.conf.eth0/1.forwarding` → `net/ipv4/conf/eth0.1/forwarding`, as sysctl(8): the first separator decides. */
export function sysctlPath(name: string): string {
  const first = /[./]/.exec(name)?.[0];
  if (first !== '.') return name;
  return name.replace(/[./]/g, (separator) => (separator === '.' ? '/' : '.'));
}

/** Instruction for the pause process. */
export function planPauseProcess(record: SandboxRecord): Instruction {
  const { config, netns } = record;
  const { network, ipc, pid } = namespacesOf(config);
  return [
    ...(netns === undefined ? [] : [['netns', netns] as const]),
    ['utsMode', network === 'host' ? 'host' : 'pod'],
    ['ipcMode', ipc],
    ['pidMode', pid === 'pod' ? 'pod' : 'host'],
    ...(config.hostname === '' ? [] : [['hostname', config.hostname] as const]),
    ...Object.entries(config.linux?.sysctls ?? {}).map(
      ([name, value]) => ['sysctl', sysctlPath(name), value] as const,
    ),
  ];
}

const protocols = ['tcp', 'udp', 'sctp'] as const;

/** Options for the network. */
export function planAttachment(record: SandboxRecord, netns: string): PodAttachment {
  const { config, id } = record;
  const { name = '', namespace = '', uid = '' } = config.metadata ?? {};
  const { dnsConfig } = config;
  const mappings = config.portMappings.filter((mapping) => mapping.hostPort > 0);
  const cgroupParent = config.linux?.cgroupParent ?? '';
  return {
    ...{ namespace, name, uid, sandboxId: id, netns, annotations: config.annotations },
    portMappings: mappings.map(({ hostPort, containerPort, protocol, hostIp }) => ({
      ...{ hostPort, containerPort, protocol: protocols[protocol] ?? 'tcp' },
      ...(hostIp === '' ? {} : { hostIP: hostIp }),
    })),
    ...compact({ dns: dnsConfig }),
    ...(cgroupParent === '' ? {} : { cgroupParent }),
  };
}

/** Name, namespace, uid and attempt: the identity of a sandbox for its client. */
export function metadataKey(config: PodSandboxConfig): string {
  const { name, namespace, uid, attempt } = config.metadata ?? {};
  return JSON.stringify([namespace, name, uid, attempt]);
}
