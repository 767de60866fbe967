import fs from 'node:fs';
import path from 'node:path';
import type { PrivateHost } from '../private-host.js';
import { createControlGroup, removeControlGroup } from './cgroup.js';
import { until } from '../until.js';
import { processesIn } from '../namespaces.js';
import { run, type RunningProcess } from '../processes.js';

/** Paths that Kubernetes has built in, and where its neighbours keep state. */
const ownDirectories = ['/var/lib', '/var/log', '/run/netns'];

/**
 * Values of the kernel's parameters that the kubelet wants; it sets them itself where they differ, and these are not
 * per namespace (kubernetes 1.20 pkg/kubelet/cm, kernel tunables; `protectKernelDefaults` only makes it fail instead).
 */
const kernelParameters: Readonly<Record<string, string>> = {
  'vm/overcommit_memory': '1',
  'vm/panic_on_oom': '0',
  'kernel/panic': '10',
  'kernel/panic_on_oops': '1',
  'kernel/keys/root_maxkeys': '1000000',
  'kernel/keys/root_maxbytes': '25000000',
};

/** A private host that has files of its own, too, in some places. */
export interface HostWithFiles extends PrivateHost {
  /** A control group in every hierarchy, for what a kubelet makes below it. */
  readonly controlGroup: string;
  /** Mount points below a directory, as the host's programs see them. */
  mountsBelow(directory: string): string[];
}

/**
 * The same host with a mount namespace: what it starts from now on sees an empty /var/lib and /var/log of its own, and
 * kernel parameters as the kubelet wants them. The machine's stay as they are, and everything goes with the host. Mounts
 * that its programs make are visible in it only; a namespace of a pod is opened over `/proc/PID/ns/net`.
 */
export async function withPrivateFiles(host: PrivateHost): Promise<HostWithFiles> {
  const controlGroup = `/podwire-test-${path.basename(host.directory)}`;
  createControlGroup(controlGroup);
  // cat lives until its input ends, and answers when the namespace is there.
  const holder = host.start(['unshare', '--mount', 'cat']);
  holder.child.stdin?.write('held\n');
  await holder.waitForOutput(/^held$/m);
  host.defer(async () => {
    // Processes that a failed runtime left in the namespaces that it pinned here.
    for (const pid of processesIn(pinnedNamespaces(holder.pid))) killQuietly(pid);
    await holder.stop();
    // Processes that were killed a moment ago leave it a moment later.
    await until('the control group is removed', () => (removeControlGroup(controlGroup), true));
  });
  const enter = ['nsenter', `--mount=/proc/${holder.pid}/ns/mnt`, '--'];
  const mount = (...words: readonly string[]): Promise<string> => run([...enter, 'mount', ...words]);
  for (const place of borrowedMounts(holder.pid).reverse()) {
    await run([...enter, 'umount', '--lazy', place]).catch((error: unknown) => {
      // Its owner has deleted the file by now, which takes our copy of the mount away.
      if (borrowedMounts(holder.pid).includes(place)) throw error;
    });
  }
  for (const directory of ownDirectories)
    await mount('-t', 'tmpfs', '-o', 'mode=755', 'podwire-test', directory);
  for (const [name, value] of Object.entries(kernelParameters)) {
    const file = path.join(host.directory, 'kernel', name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, `${value}\n`);
    await mount('--bind', file, `/proc/sys/${name}`);
  }
  return {
    ...host,
    controlGroup,
    run: (argv, options) => host.run([...enter, ...argv], options),
    start: (argv, options): RunningProcess => host.start([...enter, ...argv], options),
    mountsBelow: (directory) =>
      mountsOf(holder.pid).flatMap(({ place }) => (place.startsWith(`${directory}/`) ? [place] : [])),
  };
}

/** Pinned namespaces and containers' files of others: a copy of their mounts would keep them in being. */
function borrowedMounts(pid: number): string[] {
  return mountsOf(pid).flatMap(({ place, type }) =>
    type === 'nsfs' || (type === 'overlay' && place !== '/') ? [place] : [],
  );
}

/** A namespace that is mounted has its kind and inode as the root of the mount: `net:[4026532001]`. */
function pinnedNamespaces(pid: number): Set<number> {
  return new Set(
    mountsOf(pid).flatMap(({ root }) => {
      const inode = /^net:\[(\d+)\]$/.exec(root)?.[1];
      return inode === undefined ? [] : [Number(inode)];
    }),
  );
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** proc(5), mountinfo: field 4 and 5, and the type after the lone dash. */
function mountsOf(pid: number): { root: string; place: string; type: string }[] {
  const lines = fs.readFileSync(`/proc/${pid}/mountinfo`, 'utf8').trimEnd().split('\n');
  return lines.map((line) => ({
    root: line.split(' ')[3] ?? '',
    place: line.split(' ')[4] ?? '',
    type: line.split(' - ')[1]?.split(' ')[0] ?? '',
  }));
}
