import fs from 'node:fs';
import path from 'node:path';
import { busyboxFiles, writeTree } from './containerd/image.js';
import { unmountBelow } from '@podwire/linux';
import type { PrivateHost } from './private-host.js';

export interface PodmanOptions {
  /** Where the CNI plugins are. */
  readonly binDir: string;
  /** Where the CNI configuration is. */
  readonly confDir: string;
  /** The network, by the name in its configuration, that containers join. */
  readonly network: string;
}

/** A Podman of its own inside a private host, with the CNI back end. */
export interface Podman {
  /** Runs `podman ARGS…` and returns its standard output without the last line end. @throws CommandError */
  call(...args: readonly string[]): Promise<string>;
  /** `podman run --detach --name NAME OPTIONS…` with busybox inside, which waits to be removed. */
  runDetached(name: string, ...options: readonly string[]): Promise<string>;
  /** Stops and removes containers. */
  remove(...names: readonly string[]): Promise<string>;
}

/**
 * Prepares Podman 4.3 (Debian) inside the host: own storage and state, and own configuration with
 * `network_backend = "cni"`. Containers run on a file tree, not on an image: loading an image writes to
 * /var/lib/containers/cache whatever the options say. Everything is removed when the host closes.
 */
export async function preparePodman(host: PrivateHost, options: PodmanOptions): Promise<Podman> {
  const directory = path.join(host.directory, 'podman');
  const at = (name: string): string => path.join(directory, name);
  fs.mkdirSync(directory, { mode: 0o700 });
  fs.writeFileSync(at('containers.conf'), configuration(options));
  writeTree(at('busybox'), busyboxFiles());
  const env = { ...process.env, CONTAINERS_CONF: at('containers.conf') };
  const own = ['--root', at('root'), '--runroot', at('run'), '--tmpdir', at('tmp')];
  const call: Podman['call'] = async (...args) =>
    (await host.run(['podman', ...own, ...args], { env, timeout: 60_000 })).trimEnd();
  host.defer(async () => {
    try {
      await call('rm', '--all', '--force', '--time', '0');
    } finally {
      unmountBelow(directory);
    }
  });
  await call('info'); // makes the storage, and says at once when Podman cannot run here
  // ":O" gives each container a layer of its own above the tree.
  const inside = ['--rootfs', `${at('busybox')}:O`, 'sleep', '100000'];
  return {
    call,
    runDetached: (name, ...runOptions) => call('run', '--detach', '--name', name, ...runOptions, ...inside),
    remove: (...names) => call('rm', '--force', '--time', '0', ...names),
  };
}

function configuration({ binDir, confDir, network }: PodmanOptions): string {
  const text = (value: string): string => JSON.stringify(value); // a TOML basic string, for what paths contain
  return `[network]
network_backend = "cni"
cni_plugin_dirs = [${text(binDir)}]
network_config_dir = ${text(confDir)}
default_network = ${text(network)}
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
runtime = "runc"
[containers]
# Podman's default of a million needs CAP_SYS_RESOURCE.
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
`;
}
