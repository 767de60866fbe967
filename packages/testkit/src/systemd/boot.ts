/**
 * Starts a real systemd as process 1 of its own namespaces: `node boot.js outer|inner DIRECTORY`. `outer` makes a cgroup,
 * which becomes the root of what systemd sees, and enters new mount and cgroup namespaces; `inner` mounts what systemd needs
 * and hides from it what is the machine's.
 */
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

const [stage = '', directory = ''] = process.argv.slice(2);
const cgroupMount = path.join(directory, 'cgroup');
/** Variables of this process are no business of what systemd starts. */
const env = { PATH: process.env['PATH'] ?? '', container: 'podwire-test' };

function run(program: string, ...argv: string[]): void {
  const { status, stderr } = spawnSync(program, argv, { encoding: 'utf8', timeout: 10_000 });
  if (status !== 0) throw new Error(`${program} ${argv.join(' ')}: ${stderr}`);
}

const moveTo = (cgroup: string, pid: number): void =>
  fs.writeFileSync(path.join(cgroup, 'cgroup.procs'), String(pid));

/** Changes below it are gone with the namespaces. */
function cover(folder: string): void {
  const at = (name: string): string => path.join(directory, 'layers', folder.replaceAll('/', '-'), name);
  for (const name of ['upper', 'work']) fs.mkdirSync(at(name), { recursive: true });
  const layers = `lowerdir=${folder},upperdir=${at('upper')},workdir=${at('work')}`;
  run('mount', '-t', 'overlay', 'overlay', '-o', layers, folder);
}

const emptyTarget = `[Unit]
DefaultDependencies=no
AllowIsolate=yes
`;

/** Those that units name without saying so: what is behind them on a machine (clean-up of /tmp, sysctls, udev) must not run. */
const targets = ['sysinit', 'basic', 'shutdown', 'umount', 'multi-user', 'network-online'];

/** The journal, without what the machine says: its kernel log, its audit. */
const journal = {
  'systemd-journald.socket': `[Unit]
DefaultDependencies=no
[Socket]
ListenDatagram=/run/systemd/journal/socket
ListenStream=/run/systemd/journal/stdout
PassCredentials=yes
`,
  'systemd-journald.service': `[Unit]
DefaultDependencies=no
Requires=systemd-journald.socket
After=systemd-journald.socket
[Service]
Type=notify
ExecStart=/lib/systemd/systemd-journald
StandardOutput=null
FileDescriptorStoreMax=4224
`,
} as const;
const journalSettings =
  '[Journal]\nStorage=volatile\nReadKMsg=no\nAudit=no\nForwardToWall=no\nRateLimitBurst=0\n';

const unitFolders = ['/etc/systemd/system', '/usr/lib/systemd/system', '/usr/lib/systemd/system-generators'];

function prepareMounts(): void {
  // Systemd expects that mounts of the host appear in its services.
  run('mount', '--make-rshared', '/');
  run('mount', '-t', 'tmpfs', 'tmpfs', path.join(directory, 'layers'));
  for (const folder of ['/etc', '/var', '/tmp']) cover(folder);
  // None of the machine's units exists here.
  for (const folder of ['/run', ...unitFolders])
    run('mount', '-t', 'tmpfs', '-o', 'mode=755', 'tmpfs', folder);
  run('umount', '-R', '/sys/fs/cgroup');
  run('mount', '-t', 'cgroup2', 'cgroup2', '/sys/fs/cgroup');
  const at = (name: string): string => path.join('/usr/lib/systemd/system', name);
  for (const name of targets) fs.writeFileSync(at(`${name}.target`), emptyTarget);
  for (const [name, text] of Object.entries(journal)) fs.writeFileSync(at(name), text);
  fs.mkdirSync(at('multi-user.target.wants'));
  fs.symlinkSync('../systemd-journald.service', at('multi-user.target.wants/systemd-journald.service'));
  fs.writeFileSync('/etc/systemd/journald.conf', journalSettings);
}

function startOuter(): void {
  fs.mkdirSync(cgroupMount);
  fs.mkdirSync(path.join(directory, 'layers'));
  run('mount', '-t', 'cgroup2', 'cgroup2', cgroupMount);
  const own = path.join(cgroupMount, path.basename(directory));
  fs.mkdirSync(own);
  moveTo(own, process.pid);
  const namespaces = ['--mount', '--cgroup', '--ipc', '--uts', '--propagation', 'private', '--kill-child'];
  follow('unshare', [...namespaces, process.execPath, import.meta.filename, 'inner', directory], process.env);
}

function startInner(): void {
  prepareMounts();
  // Processes in the root of a cgroup tree would keep systemd from handing out controllers.
  fs.mkdirSync('/sys/fs/cgroup/outside');
  for (const pid of [process.ppid, process.pid]) moveTo('/sys/fs/cgroup/outside', pid);
  const systemd = ['/lib/systemd/systemd', '--system', '--unit=multi-user.target', '--log-target=journal'];
  follow(
    'unshare',
    [
      '--pid',
      '--fork',
      '--kill-child',
      '--mount-proc',
      '--propagation',
      'unchanged',
      ...systemd,
      '--show-status=no',
    ],
    env,
  );
}

function follow(program: string, argv: string[], environment: NodeJS.ProcessEnv): void {
  const child = spawn(program, argv, { stdio: 'inherit', env: environment });
  child.once('exit', (code) => process.exit(code ?? 1));
}

if (stage === 'outer') startOuter();
else startInner();
