/** Options that `podwire podlet` and `podwire sandbox` have in common. */
import { type Command, Option } from 'commander';

const collect = (value: string, before: readonly string[] | undefined): string[] => [
  ...(before ?? []),
  value,
];

export function addRuntimeOptions(command: Command): Command {
  return command
    .option('--docker-socket <file>', 'socket of Docker Engine (runtime docker)', '/run/docker.sock')
    .option('--sandbox-image <image>', 'the pause image (runtime docker)')
    .option(
      '--cni-conf-dir <dir>',
      'directory of the CNI configuration (embedded and docker)',
      '/etc/cni/net.d',
    )
    .option('--cni-bin-dir <dir>', 'directory of CNI plugins; repeatable', collect)
    .option('--network <name>', 'use the CNI network of this name, whatever the order of files');
}

export function addPodOptions(command: Command): Command {
  return command
    .option('--node-name <name>', 'the name of this node (default: the host name)')
    .option(
      '--node-label <key=value>',
      'a label of this node, for nodeSelector and affinity; repeatable',
      collect,
      [],
    )
    .option(
      '--allowed-unsafe-sysctls <names>',
      'sysctls that pods may set beside the safe ones, a,b,…; a trailing * matches a prefix',
      collect,
      [],
    )
    .option('--manifests <path>', 'a manifest file or a directory of them; repeatable', collect, [])
    .option('--url <url>', 'manifests of a web server; repeatable', collect, [])
    .option('--header <line>', '"Name: value" for those requests; repeatable', collect, [])
    .option(
      '--header-file <file>',
      'a file of such lines: `ps` shows the command line to all users',
      collect,
      [],
    )
    .addOption(
      new Option('--name-suffix <what>', 'node: append -NODE to the names of pods, as kubelet does; none')
        .choices(['node', 'none'])
        .default('none'),
    )
    .option('--kubeconfig <file>', 'also the pods that an API server has bound to this node')
    .addOption(
      new Option(
        '--cgroup-driver <name>',
        'cgroup driver of the runtime; only for runtimes that do not report it',
      ).choices(['cgroupfs', 'systemd']),
    )
    .option('--cgroup-root <path>', 'the parent cgroup of all pods')
    .option('--logs <dir>', 'directory of containers’ logs')
    .option(
      '--container-log-links <dir>',
      'directory of links to them, or none (default: /var/log/containers for logs in /var/log/pods)',
    )
    .option('--cluster-dns <address>', 'the cluster’s DNS server; repeatable', collect, [])
    .option(
      '--credentials <file>',
      'registry credentials as `docker login` writes them; repeatable',
      collect,
      [],
    )
    .option(
      '--pull-secrets <dir>',
      'imagePullSecrets of pods of files and URLs: DIR/NAMESPACE/NAME.json, as `docker login` writes them',
    )
    .option('--cluster-domain <name>', 'the cluster’s domain', 'cluster.local');
}

/** Of `podwire podlet`, and of `podwire up`, which hands them on. */
export function addLogRotation(command: Command): Command {
  return command
    .option(
      '--container-log-max-size <quantity>',
      'size at which a container’s log is rotated (default: 10Mi); 0: never',
    )
    .option('--container-log-max-files <number>', 'number of log files kept for one container (default: 5)');
}

export const defaultPluginPath = ['/opt/cni/bin', '/usr/lib/cni'];
