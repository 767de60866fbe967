import fs from 'node:fs';
import path from 'node:path';

const mountPoint = '/sys/fs/cgroup';

/** The mounted hierarchies, that of cgroups v2 beside those of v1 as well: runc follows into it. Links such as `cpu` → `cpu,cpuacct`
 * are no further ones. */
function hierarchies(): string[] {
  return fs
    .readdirSync(mountPoint, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => path.join(mountPoint, entry.name));
}

/** Makes a control group in every hierarchy, for all that a kubelet makes below. @param name `/podwire-test-1` */
export function createControlGroup(name: string): void {
  for (const hierarchy of hierarchies()) {
    const directory = path.join(hierarchy, name);
    fs.mkdirSync(directory);
    // A new cpuset has no processor and no memory, and takes no process (cgroup-v1/cpusets).
    for (const file of ['cpuset.cpus', 'cpuset.mems']) {
      const parent = path.join(hierarchy, file);
      if (fs.existsSync(parent)) fs.writeFileSync(path.join(directory, file), fs.readFileSync(parent));
    }
  }
}

/** Removes it with all below; nothing may run in it any more. */
export function removeControlGroup(name: string): void {
  const remove = (directory: string): void => {
    for (const entry of fs.readdirSync(directory, { withFileTypes: true }))
      if (entry.isDirectory()) remove(path.join(directory, entry.name));
    fs.rmdirSync(directory);
  };
  for (const hierarchy of hierarchies()) {
    const directory = path.join(hierarchy, name);
    if (fs.existsSync(directory)) remove(directory);
  }
}
