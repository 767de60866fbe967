/** The systemd units of the node agent and the pod agent, as text (systemd.service(5), systemd.exec(5)). */
import path from 'node:path';
import { defaultDirectory } from '../pods/locate.js';

export interface UnitOptions {
  /** How this very program is started: interpreter, its options, script. */
  readonly program: readonly string[];
  /** The configuration of the node agent. */
  readonly agentConfig: string;
  /** The options of the pod agent. */
  readonly podletConfig: string;
  /** Where the pod agent lives. */
  readonly directory: string;
}

export const unitNames = { agent: 'podwire-agent.service', podlet: 'podwire-podlet.service' } as const;
export type ServiceName = keyof typeof unitNames;

const mark = '# Written by `podwire service install`, and replaced by the next one.';

/** True for a file that some version of these functions wrote. */
export const isOwnUnit = (text: string): boolean => text.startsWith(mark);

export const renderUnit = (name: ServiceName, options: UnitOptions): string =>
  name === 'agent' ? renderAgentUnit(options) : renderPodletUnit(options);

function renderAgentUnit({ program, agentConfig, directory }: UnitOptions): string {
  return render(unitNames.agent, {
    Unit: [
      'Description=Podwire node agent: the network of pods',
      'Wants=network-online.target',
      'After=network-online.target nftables.service',
      // Runtimes ask the CNI plugin as soon as they are up.
      `Before=containerd.service docker.service kubelet.service ${unitNames.podlet}`,
      ...restartLimit,
    ],
    Service: [
      'Type=notify',
      `ExecStart=${commandLine([...program, 'agent', '--config', agentConfig])}`,
      ...common,
      '# The network of pods stays when the agent stops. Only its own children (BIRD, nft) end with it.',
      'KillMode=mixed',
      'TimeoutStopSec=30s',
      ...runtimeDirectory(directory),
      ...agentHardening([...program, agentConfig], directory),
    ],
    Install: ['WantedBy=multi-user.target'],
  });
}

function renderPodletUnit({ program, podletConfig, directory }: UnitOptions): string {
  return render(unitNames.podlet, {
    Unit: [
      'Description=Podwire pod agent: the pods of manifests',
      `Wants=network-online.target ${unitNames.agent}`,
      `After=network-online.target ${unitNames.agent} containerd.service docker.service`,
      ...restartLimit,
    ],
    Service: [
      'Type=notify',
      `ExecStart=${commandLine([...program, 'podlet', '--directory', directory, '--config', podletConfig])}`,
      ...common,
      '# Pods of the embedded runtime are processes of this unit: they outlive it, and the next start adopts them.',
      'KillMode=process',
      'Delegate=yes',
      'OOMPolicy=continue',
      'TasksMax=infinity',
      'LimitNOFILE=1048576',
      ...runtimeDirectory(directory),
      '# No sandbox of this unit: pods would inherit its system call filter and its capabilities, and its mounts would',
      '# not be those of the host, so that volumes were gone after a restart.',
    ],
    Install: ['WantedBy=multi-user.target'],
  });
}

/** Ten failures in five minutes are no accident; `systemctl reset-failed` and a start try again. */
const restartLimit = ['StartLimitIntervalSec=5min', 'StartLimitBurst=10'];

const common = [
  // The setting of bin/podwire for itself: one arena for all threads.
  'Environment=MALLOC_ARENA_MAX=1',
  'ExecReload=/bin/kill -HUP $MAINPID',
  'Restart=on-failure',
  'RestartSec=1s',
  'TimeoutStartSec=1min',
  'WatchdogSec=1min',
];

/** Only for the default one; records in it outlive the unit, as pods do. */
function runtimeDirectory(directory: string): string[] {
  if (directory !== defaultDirectory) return [];
  return ['RuntimeDirectory=podwire', 'RuntimeDirectoryMode=0700', 'RuntimeDirectoryPreserve=yes'];
}

/** Hardening of the agent, which only changes links, sysctls and nftables, and enters network namespaces. */
function agentHardening(files: readonly string[], directory: string): string[] {
  const isBelow = (...folders: string[]): boolean =>
    [...files, directory].some((file) => folders.some((folder) => file.startsWith(`${folder}/`)));
  return [
    'NoNewPrivileges=yes',
    `CapabilityBoundingSet=${capabilities.join(' ')}`,
    'ProtectSystem=full',
    '# Network configurations of OpenShift SDN and Kube-OVN, where the agent serves their plugins.',
    'ReadWritePaths=-/etc/cni/net.d',
    // A program that lies there must still be seen.
    `ProtectHome=${isBelow('/root', '/home', '/run/user') ? 'read-only' : 'yes'}`,
    ...(isBelow('/tmp', '/var/tmp') ? [] : ['PrivateTmp=yes']),
    'PrivateDevices=yes',
    'ProtectClock=yes',
    'ProtectHostname=yes',
    'ProtectKernelLogs=yes',
    'ProtectKernelModules=yes',
    'ProtectControlGroups=yes',
    '# ProtectKernelTunables would make /proc/sys/net read-only.',
    'RestrictNamespaces=net',
    'RestrictAddressFamilies=AF_UNIX AF_NETLINK AF_INET AF_INET6 AF_PACKET',
    'RestrictRealtime=yes',
    'RestrictSUIDSGID=yes',
    'LockPersonality=yes',
    'SystemCallArchitectures=native',
    'SystemCallFilter=@system-service',
    'SystemCallErrorNumber=EPERM',
    'UMask=0077',
  ];
}

const capabilities = [
  ...['CAP_NET_ADMIN', 'CAP_NET_RAW', 'CAP_NET_BIND_SERVICE'],
  // Entering a network namespace; files in /proc of processes that have one.
  ...['CAP_SYS_ADMIN', 'CAP_SYS_PTRACE', 'CAP_DAC_OVERRIDE', 'CAP_DAC_READ_SEARCH'],
  // Events of all namespaces on one socket: drift in pods.
  'CAP_NET_BROADCAST',
  // BIRD: the owner of its socket, and its end.
  ...['CAP_CHOWN', 'CAP_FOWNER', 'CAP_KILL'],
];

function render(name: string, sections: Readonly<Record<string, readonly string[]>>): string {
  const own = `# Settings of your own: systemctl edit ${path.basename(name, '.service')}`;
  const body = Object.entries(sections).map(([title, lines]) => `[${title}]\n${lines.join('\n')}\n`);
  return `${mark}\n${own}\n\n${body.join('\n')}`;
}

/** Quotes what systemd would split or replace (systemd.service(5), "Command lines"). */
export function commandLine(words: readonly string[]): string {
  return words.map(quote).join(' ');
}

function quote(word: string): string {
  const escaped = word
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replaceAll('%', '%%')
    .replaceAll('$', '$$$$');
  return /^[\w@%+=:,./-]+$/.test(word) ? escaped : `"${escaped}"`;
}
