/** Makes the instruction for the shim of a container: pure. */
import path from 'node:path';
import { type ContainerConfig, CriError, MountPropagation, NamespaceMode } from '@podwire/cri';
import type { Instruction } from '../native/instruction.js';
import type { ProcessName } from '../native/state-file.js';
import { namespacesOf, type Sharing } from '../sandbox/plan.js';
import { sandboxFiles } from '../sandbox/files.js';
import type { ContainerRecord, SandboxRecord } from '../state/record.js';
import { allCapabilities, chooseCapabilities } from './capabilities.js';
import { type Accounts, chooseUser } from './user.js';

type Line = Instruction[number];

/** The facts beside the two configurations. */
export interface ContainerPlanContext {
  readonly sandbox: SandboxRecord;
  /** Directory with the sandbox's own files. */
  readonly sandboxDirectory: string;
  readonly pause: ProcessName;
  /** First process of the container whose PID namespace is joined, where one is. */
  readonly target?: ProcessName;
  readonly accounts: Accounts;
}

/** @throws CriError INVALID_ARGUMENT */
export function checkContainer(config: ContainerConfig): void {
  if (config.command.length === 0)
    throw new CriError(
      'INVALID_ARGUMENT',
      `container ${config.metadata?.name} has no command: the embedded runtime has no images, so it needs to be told what to run`,
    );
  if (config.CDIDevices.length > 0)
    throw new CriError('INVALID_ARGUMENT', 'the embedded runtime has no CDI devices');
  for (const { containerPath, propagation, uidMappings, gidMappings } of config.mounts) {
    if (propagation === MountPropagation.PROPAGATION_BIDIRECTIONAL)
      throw new CriError('INVALID_ARGUMENT', `mount ${containerPath}: no bidirectional propagation here`);
    if (uidMappings.length + gidMappings.length > 0)
      throw new CriError('INVALID_ARGUMENT', `mount ${containerPath}: no id mappings here`);
    if (path.posix.normalize(containerPath) === '/')
      throw new CriError('INVALID_ARGUMENT', 'nothing can be mounted over the root directory');
  }
}

/** Without a word about namespaces it is as the sandbox says; with one, POD needs a sandbox that has one to share. */
export function pidSharing(config: ContainerConfig, sandbox: SandboxRecord): Sharing | 'target' {
  const pod = namespacesOf(sandbox.config).pid;
  const mode = config.linux?.securityContext?.namespaceOptions?.pid;
  if (mode === undefined) return pod;
  if (mode === NamespaceMode.NODE) return 'host';
  if (mode === NamespaceMode.TARGET) return 'target';
  return mode === NamespaceMode.POD && pod === 'pod' ? 'pod' : 'own';
}

const processValues = ({ pid, start }: ProcessName): [number, bigint] => [pid, start];

function planNamespaces(config: ContainerConfig, planContext: ContainerPlanContext): Line[] {
  const { sandbox, pause, target } = planContext;
  const { network, ipc } = namespacesOf(sandbox.config);
  const sharing = pidSharing(config, sandbox);
  const shared = sharing === 'target' ? target : pause;
  return [
    ...(sandbox.netns === undefined ? [] : [['netns', sandbox.netns] as const]),
    ['holder', ...processValues(pause)],
    ['utsMode', network === 'host' ? 'host' : 'pod'],
    ['ipcMode', ipc],
    ['pidMode', sharing === 'target' ? 'pod' : sharing],
    ...(shared === undefined ? [] : [['pidHolder', ...processValues(shared)] as const]),
  ];
}

function planMounts(config: ContainerConfig, planContext: ContainerPlanContext): Line[] {
  const { mounts, devices } = config;
  const taken = new Set(mounts.map((mount) => path.posix.normalize(mount.containerPath)));
  const own = sandboxFiles.filter(([target]) => !taken.has(target));
  return [
    ...own.map(([target, name]): Line => [
      'mount',
      'rw',
      path.join(planContext.sandboxDirectory, name),
      target,
    ]),
    ...mounts.map(({ hostPath, containerPath, readonly, propagation }): Line => {
      const slave = propagation === MountPropagation.PROPAGATION_HOST_TO_CONTAINER ? ',rslave' : '';
      const target = path.posix.normalize(containerPath);
      return ['mount', `${readonly ? 'ro' : 'rw'}${slave}`, hostPath, target];
    }),
    ...devices.map(({ hostPath, containerPath, permissions }): Line => {
      const options = permissions.includes('w') || permissions === '' ? 'rw' : 'ro';
      return ['mount', options, hostPath, containerPath === '' ? hostPath : containerPath];
    }),
  ];
}

const usuallyMasked = [
  ...['/proc/acpi', '/proc/asound', '/proc/kcore', '/proc/keys', '/proc/latency_stats', '/proc/sched_debug'],
  ...['/proc/scsi', '/proc/timer_list', '/proc/timer_stats', '/sys/firmware'],
];
const usuallyReadonly = ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger'];

function planKernelFiles(config: ContainerConfig): Line[] {
  const context = config.linux?.securityContext;
  if (context?.privileged === true) return [['privileged']];
  const orUsual = (paths: readonly string[] = [], usual: readonly string[]): readonly string[] =>
    paths.length === 0 ? usual : paths;
  return [
    ...orUsual(context?.maskedPaths, usuallyMasked).map((each): Line => ['masked', each]),
    ...orUsual(context?.readonlyPaths, usuallyReadonly).map((each): Line => ['readonly', each]),
  ];
}

/** The environment of every container; its own variables come last and win. */
export function planEnvironment(config: ContainerConfig, hostname: string, home: string): string[] {
  const usual = {
    PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    HOME: home,
    ...(hostname === '' ? {} : { HOSTNAME: hostname }),
    ...(config.tty ? { TERM: 'xterm' } : {}),
  };
  const own = Object.fromEntries(config.envs.map(({ key, value }) => [key, value]));
  return Object.entries({ ...usual, ...own }).map(([key, value]) => `${key}=${value}`);
}

/** As whom and with what rights: for the container's program, and for others that are run in it later. */
export function planCredentials(config: ContainerConfig, sandbox: SandboxRecord, accounts: Accounts): Line[] {
  const context = config.linux?.securityContext;
  const { uid, gid, groups, home } = chooseUser(context, accounts);
  const capabilities = context?.privileged ? allCapabilities : chooseCapabilities(context?.capabilities);
  const environment = planEnvironment(config, sandbox.config.hostname, home);
  return [
    ['user', uid, gid],
    ...groups.map((group): Line => ['group', group]),
    ['capabilities', capabilities.toString(16)],
    ...(context?.noNewPrivs === true ? [['noNewPrivileges'] as const] : []),
    ...environment.map((each): Line => ['env', each]),
    ['cwd', config.workingDir === '' ? '/' : config.workingDir],
  ];
}

/** The path of the log; undefined when none is kept. */
export function logPathOf(config: ContainerConfig, sandbox: SandboxRecord): string | undefined {
  const { logDirectory } = sandbox.config;
  return config.logPath === '' || logDirectory === '' ? undefined : path.join(logDirectory, config.logPath);
}

export function planContainer(
  { config, root }: ContainerRecord,
  planContext: ContainerPlanContext,
): Instruction {
  const { sandbox, accounts } = planContext;
  const log = logPathOf(config, sandbox);
  return [
    ...planNamespaces(config, planContext),
    ['root', root],
    ['shm', sandbox.shm ?? '/dev/shm'],
    ...planMounts(config, planContext),
    ...planKernelFiles(config),
    ...(config.linux?.securityContext?.readonlyRootfs === true ? [['readonlyRoot'] as const] : []),
    ...planCredentials(config, sandbox, accounts),
    ...[...config.command, ...config.args].map((each): Line => ['arg', each]),
    ...(log === undefined ? [] : [['log', log] as const]),
    ...(config.tty ? [['tty'] as const] : []),
    ...(config.stdin ? [['stdin'] as const] : []),
    ...(config.stdinOnce ? [['stdinOnce'] as const] : []),
  ];
}
