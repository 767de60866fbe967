import fs from 'node:fs';
import path from 'node:path';
import type { PrivateHost } from '../private-host.js';
import { run, type RunningProcess } from '../processes.js';

/** Paths that Kubernetes has built in, and where its neighbours keep state. */
const ownDirectories = ['/var/lib', '/var/log', '/run/netns'];

/**
 * What the kubelet wants the kernel's parameters to be; it sets them itself where they differ, and these are not per
 * namespace (kubernetes 1.20 pkg/kubelet/cm, kernel tunables; `protectKernelDefaults` only makes it fail instead).
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
  /** Mount points below a directory, as the host's programs see them. */
  mountsBelow(directory: string): string[];
}

/**
 * The same host with a mount namespace: what it starts from now on sees an empty /var/lib and /var/log of its own, and
 * kernel parameters as the kubelet wants them. The machine's stay as they are, and everything goes with the host. Mounts
 * that its programs make are visible in it only; a namespace of a pod is opened over `/proc/PID/ns/net`.
 */
export async function withPrivateFiles(host: PrivateHost): Promise<HostWithFiles> {
  // cat lives until its input ends, and answers when the namespace is there.
  const holder = host.start(['unshare', '--mount', 'cat']);
  holder.child.stdin?.write('held\n');
  await holder.waitForOutput(/^held$/m);
  host.defer(() => holder.stop());
  const enter = ['nsenter', `--mount=/proc/${holder.pid}/ns/mnt`, '--'];
  const mount = (...words: readonly string[]): Promise<string> => run([...enter, 'mount', ...words]);
  for (const place of borrowedMounts(holder.pid).reverse()) await run([...enter, 'umount', '--lazy', place]);
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

/** proc(5), mountinfo: field 5, and the type after the lone dash. */
function mountsOf(pid: number): { place: string; type: string }[] {
  const lines = fs.readFileSync(`/proc/${pid}/mountinfo`, 'utf8').trimEnd().split('\n');
  return lines.map((line) => ({
    place: line.split(' ')[4] ?? '',
    type: line.split(' - ')[1]?.split(' ')[0] ?? '',
  }));
}
