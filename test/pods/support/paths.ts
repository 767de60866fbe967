/** The files and directories of one machine, and what lies in them: what a fault may leave behind. */
import fs from 'node:fs';
import path from 'node:path';
import { mountsBelow, type PrivateHost } from '@podwire/testkit';

export interface Paths {
  /** Of the pod agent and its runtime. */
  readonly state: string;
  readonly manifests: string;
  readonly netns: string;
  readonly shm: string;
  readonly bootId: string;
  readonly leases: string;
  /** Of the network plugin manager. */
  readonly network: string;
  readonly confDir: string;
  /** Plugins of the test. */
  readonly binDir: string;
  readonly orders: string;
}

export function createPaths(host: PrivateHost): Paths {
  const at = (name: string): string => path.join(host.directory, name);
  const paths: Paths = {
    ...{ state: at('s'), manifests: at('manifests'), netns: at('netns'), shm: at('shm') },
    ...{ bootId: at('boot-id'), leases: at('leases'), network: at('network'), confDir: at('net.d') },
    ...{ binDir: at('bin'), orders: at('orders') },
  };
  const { bootId, ...directories } = paths;
  for (const directory of Object.values(directories)) fs.mkdirSync(directory, { recursive: true });
  fs.writeFileSync(bootId, 'the first boot\n');
  return paths;
}

const list = (directory: string): string[] =>
  fs.existsSync(directory) ? fs.readdirSync(directory).sort() : [];

/** Addresses that host-local has given away, whatever the network. */
export const leasesIn = ({ leases }: Paths): string[] =>
  list(leases).flatMap((network) =>
    list(path.join(leases, network)).filter((entry) => /^[\da-f]+[.:][\da-f.:]+$/.test(entry)),
  );

/** Everything that belongs to single pods, by name. */
export function listPodThings(host: PrivateHost, paths: Paths): Record<string, readonly string[]> {
  const { state, network, netns, shm } = paths;
  return {
    leases: leasesIn(paths),
    netns: list(netns),
    shm: list(shm),
    sandboxes: list(path.join(state, 'embedded/sandboxes')),
    containers: list(path.join(state, 'embedded/containers')),
    checkpoints: list(path.join(state, 'docker/sandbox')),
    pods: list(path.join(state, 'podlet/pods')),
    logs: list(path.join(state, 'logs')),
    attachments: list(path.join(network, 'sandboxes')),
    results: list(path.join(network, 'cache/results')),
    endpoints: list(path.join(host.directory, 'agent/state/endpoints')),
    mounts: mountsBelow(state).map((mount) => mount.path),
    processes: processesNaming(`${host.directory}/`),
  };
}

/** Command lines with a text in them: programs of the runtime, plugins, and what they have left. */
function processesNaming(text: string): string[] {
  const lines = fs
    .readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry) && Number(entry) !== process.pid)
    .map((entry) => {
      try {
        return fs.readFileSync(`/proc/${entry}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
      } catch {
        return ''; // it ended meanwhile
      }
    });
  return lines.filter((line) => line.includes(text)).sort();
}
