/** Options that `podwire podlet` and `podwire sandbox` have in common. */
import { type Command, Option } from 'commander';

const collect = (value: string, before: readonly string[] | undefined): string[] => [
  ...(before ?? []),
  value,
];

export function addRuntimeOptions(command: Command): Command {
  return command
    .option('--docker-socket <file>', 'where Docker Engine listens (runtime docker)', '/run/docker.sock')
    .option('--sandbox-image <image>', 'the image that holds a sandbox (runtime docker)')
    .option('--cni-conf-dir <dir>', 'where CNI configuration stands (embedded and docker)', '/etc/cni/net.d')
    .option('--cni-bin-dir <dir>', 'where CNI plugins are; several times for several', collect)
    .option('--network <name>', 'take the CNI network of this name, whatever the order of files');
}

export function addPodOptions(command: Command): Command {
  return command
    .option('--node-name <name>', 'the name of this node (default: the host name)')
    .option(
      '--node-label <key=value>',
      'a label of this node, for nodeSelector and affinity; several times for several',
      collect,
      [],
    )
    .option(
      '--allowed-unsafe-sysctls <names>',
      'sysctls that pods may set beside the safe ones, with commas between them; a * at the end stands for all that begin so',
      collect,
      [],
    )
    .option(
      '--manifests <path>',
      'a manifest file or a directory of them; several times for several',
      collect,
      [],
    )
    .option('--url <url>', 'manifests of a web server; several times for several', collect, [])
    .option('--header <line>', '"Name: value" for those requests; several times for several', collect, [])
    .option(
      '--header-file <file>',
      'such lines in a file: what stands on the command line is shown by `ps` to everybody',
      collect,
      [],
    )
    .addOption(
      new Option('--name-suffix <what>', 'node: put -NODE behind the names of pods, as kubelet does; none')
        .choices(['node', 'none'])
        .default('none'),
    )
    .option('--kubeconfig <file>', 'also the pods that an API server has bound to this node')
    .addOption(
      new Option(
        '--cgroup-driver <name>',
        'how the runtime makes control groups; only for runtimes that do not tell',
      ).choices(['cgroupfs', 'systemd']),
    )
    .option('--cgroup-root <path>', 'the control group that those of pods are below')
    .option('--logs <dir>', 'where containers’ logs go')
    .option(
      '--container-log-links <dir>',
      'where links to them go, or none (default: /var/log/containers for logs in /var/log/pods)',
    )
    .option('--cluster-dns <address>', 'the cluster’s DNS server; several times for several', collect, [])
    .option(
      '--credentials <file>',
      'registry credentials as `docker login` writes them; several times for several',
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
      'rotate a container’s log from this size on (default: 10Mi); 0: never',
    )
    .option('--container-log-max-files <number>', 'files of one container’s log that are kept (default: 5)');
}

export const defaultPluginPath = ['/opt/cni/bin', '/usr/lib/cni'];
