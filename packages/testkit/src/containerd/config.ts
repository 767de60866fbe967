/** The configuration of a private containerd 1.6, as TOML. */
import path from 'node:path';

export interface ContainerdConfig {
  readonly binDir: string;
  readonly confDir: string;
  readonly pauseImage: string;
  /** A runc for the systemd cgroup driver; the cgroupfs driver when absent. */
  readonly systemdRunc?: string;
}

/** @param directory root, state and socket of the instance are below it */
export function renderContainerdConfig(
  directory: string,
  { binDir, confDir, pauseImage, systemdRunc }: ContainerdConfig,
): string {
  const text = (value: string): string => JSON.stringify(value); // a TOML basic string, for what paths contain
  return `version = 2
root = ${text(path.join(directory, 'root'))}
state = ${text(path.join(directory, 'state'))}
disabled_plugins = ["io.containerd.internal.v1.opt"]
[grpc]
  address = ${text(path.join(directory, 'containerd.sock'))}
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = ${text(pauseImage)}
  # Lowering oom_score_adj needs CAP_SYS_RESOURCE; runc's error without it is unclear.
  restrict_oom_score_adj = true
  # Pins the pods' namespaces below the state directory instead of /var/run/netns.
  netns_mounts_under_state_dir = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = ${text(binDir)}
    conf_dir = ${text(confDir)}
${systemdRunc === undefined ? '' : runcConfiguration(text(systemdRunc))}`;
}

const runcConfiguration = (program: string): string => `
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      SystemdCgroup = true
      BinaryName = ${program}
`;
