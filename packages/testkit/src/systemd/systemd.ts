/** A real systemd on a private host: process 1 of its own, with its own /etc, /run and /var. */
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PrivateHost } from '../private-host.js';
import type { RunOptions } from '../processes.js';
import { eventually } from '../until.js';

export interface Systemd {
  /** Runs a program beside its services: in all of its namespaces. */
  run(argv: readonly string[], options?: RunOptions): Promise<string>;
  /** Log of it and its services, one JSON object a line (journalctl(1)). */
  journal(...match: string[]): Promise<string>;
}

/** Boots it; it ends with the host. Its files are the machine's, and what is changed below /etc, /run, /tmp and /var is gone with it.
 * No unit of the machine exists for it. */
export async function startSystemd(host: PrivateHost): Promise<Systemd> {
  const directory = fs.mkdtempSync(path.join(host.directory, 'systemd-'));
  const outputFile = path.join(directory, 'log');
  const boot = host.start([process.execPath, path.join(import.meta.dirname, 'boot.js'), 'outer', directory], {
    outputFile,
  });
  const log = (): string => fs.readFileSync(outputFile, 'utf8');
  host.defer(async () => {
    boot.kill('SIGKILL');
    await boot.exited;
    await removeCgroups(host, directory);
  });
  const pid = await findInit(boot.pid, log);
  const enter = [
    'nsenter',
    '--target',
    String(pid),
    '--mount',
    '--pid',
    '--cgroup',
    '--ipc',
    '--uts',
    '--net',
    '--',
  ];
  const run = (argv: readonly string[], options?: RunOptions): Promise<string> =>
    host.run([...enter, ...argv], options);
  await eventually(
    'systemd answers',
    async () =>
      await run(['systemctl', 'is-system-running', '--wait']).then(
        () => true,
        (error: unknown) => /degraded|running/.test(String((error as { stdout?: string }).stdout)),
      ),
  );
  const journal = (...match: string[]): Promise<string> =>
    run(['journalctl', '--no-pager', '--quiet', '--output=json', ...match]);
  return { run, journal };
}

/** The first process of the newest PID namespace below `boot`. */
async function findInit(boot: number, log: () => string): Promise<number> {
  let found: number | undefined;
  await eventually(
    `systemd has started:\n${log()}`,
    () => (found = descendants(boot).find(isSystemd)) !== undefined,
  );
  return found!;
}

function descendants(pid: number): number[] {
  try {
    const text = fs.readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
    const children = text === '' ? [] : text.split(' ').map(Number);
    return children.flatMap((child) => [child, ...descendants(child)]);
  } catch {
    return [];
  }
}

function isSystemd(pid: number): boolean {
  try {
    return fs.readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === 'systemd';
  } catch {
    return false;
  }
}

/** Its processes are gone a moment after process 1. */
async function removeCgroups(host: PrivateHost, directory: string): Promise<void> {
  const mount = path.join(directory, 'cgroup');
  const own = path.join(mount, path.basename(directory));
  for (let attempt = 0; fs.existsSync(own); attempt++) {
    if (attempt === 200) throw new Error(`${own} has processes that do not end`);
    removeTree(own);
    await sleep(20);
  }
  await host.run(['umount', mount]);
}

function removeTree(cgroup: string): void {
  try {
    for (const entry of fs.readdirSync(cgroup, { withFileTypes: true }))
      if (entry.isDirectory()) removeTree(path.join(cgroup, entry.name));
    fs.rmdirSync(cgroup);
  } catch {
    // It has processes that are on their way out.
  }
}
