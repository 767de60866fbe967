import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { buildBusyboxImage, buildPauseImage } from './containerd/image.js';
import { unmountBelow } from '@podwire/linux';
import type { PrivateHost } from './private-host.js';
import type { RunningProcess } from './processes.js';

export interface DockerOptions {
  /** Distinguishes engines of one host; `docker` when absent. */
  readonly name?: string;
  /**
   * `none` when absent: without bridge and without rules, it changes nothing of the host's network. `default`: as Docker comes, with
   * `docker0`, rules of its own in iptables, forwarding on and FORWARD's policy DROP if forwarding was off before.
   */
  readonly network?: 'none' | 'default';
}

export interface DockerAnswer {
  readonly status: number;
  readonly body: string;
}

/** The parts of an inspection that tests look at. */
export interface DockerContainer {
  readonly Id: string;
  readonly Name: string;
  readonly Created: string;
  readonly ResolvConfPath: string;
  readonly State: {
    readonly Status: string;
    readonly Running: boolean;
    readonly Pid: number;
    readonly ExitCode: number;
    readonly StartedAt: string;
  };
  readonly Config: {
    readonly Hostname: string;
    readonly Image: string;
    readonly Labels: Readonly<Record<string, string>>;
    readonly Env: readonly string[] | null;
    readonly User: string;
  };
  readonly HostConfig: Readonly<Record<string, unknown>> & {
    readonly NetworkMode: string;
    readonly IpcMode: string;
    readonly PidMode: string;
  };
}

/** A Docker Engine of its own inside a private host: own containerd, root, state, socket and images. */
export class Docker {
  readonly socket: string;
  readonly directory: string;
  readonly dataRoot: string;
  readonly #host: PrivateHost;
  readonly #network: 'none' | 'default';
  readonly #cgroup: string;
  #containerd: RunningProcess | undefined;
  #daemon: RunningProcess | undefined;
  #earlierLog = '';
  #closed = false;

  /** It does not run yet. */
  constructor(host: PrivateHost, { name = 'docker', network = 'none' }: DockerOptions) {
    this.directory = path.join(host.directory, name);
    this.socket = this.#at('docker.sock');
    this.dataRoot = this.#at('root');
    this.#host = host;
    this.#network = network;
    started += 1;
    this.#cgroup = `podwire-test-${process.pid}-${started}`;
    fs.mkdirSync(this.directory, { mode: 0o700 });
    fs.writeFileSync(this.#at('containerd.toml'), containerdConfiguration(this.directory));
  }

  /** Starts the daemon, also again after its end. */
  async start(): Promise<void> {
    // A SIGKILL leaves these behind, and dockerd believes a pid file whose number belongs to another process meanwhile.
    for (const left of ['docker.pid', 'docker.sock', 'containerd.sock'])
      fs.rmSync(this.#at(left), { force: true });
    this.#containerd = this.#host.start(['containerd', '--config', this.#at('containerd.toml')]);
    await this.#containerd.waitForOutput(/containerd successfully booted/);
    this.#daemon = this.#host.start(daemonCommand(this.directory, this.#cgroup, this.#network));
    await this.#daemon.waitForOutput(/API listen on/, { timeout: 60_000 });
  }

  /** Log of the daemon so far. */
  log(): string {
    return this.#earlierLog + (this.#daemon?.stderr() ?? '');
  }

  /** One request to the engine's API, past all code under test. A body goes as JSON unless it is bytes. */
  call(method: string, target: string, body?: unknown): Promise<DockerAnswer> {
    return request(this.socket, method, target, body);
  }

  /** `GET /containers/ID/json`, or undefined when there is none. */
  async inspect(container: string): Promise<DockerContainer | undefined> {
    const answer = await this.call('GET', `/containers/${encodeURIComponent(container)}/json`);
    return answer.status === 404 ? undefined : (JSON.parse(answer.body) as DockerContainer);
  }

  /** Names (without the slash) and ids of all containers, running or not. */
  async containers(): Promise<{ readonly id: string; readonly name: string; readonly state: string }[]> {
    const { body } = await this.call('GET', '/containers/json?all=1');
    return (JSON.parse(body) as ListedContainer[]).map(({ Id, Names, State }) => ({
      id: Id,
      name: (Names[0] ?? '').replace(/^\//, ''),
      state: State,
    }));
  }

  /** SIGKILL for the daemon; containers die with it, as at a power cut. */
  async kill9(): Promise<void> {
    this.#earlierLog = this.log();
    await killContainersOf(this.directory);
    for (const one of [this.#daemon, this.#containerd]) {
      one?.kill('SIGKILL');
      await one?.exited;
    }
    unmountBelow(this.directory);
  }

  /** Removes every container, ends the daemons and takes their mounts away. Also runs when the host closes. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    try {
      if (this.#daemon?.child.exitCode === null && this.#daemon.child.signalCode === null)
        for (const { id } of await this.containers())
          await this.call('DELETE', `/containers/${id}?force=1&v=1`);
    } finally {
      await this.#daemon?.stop(20_000);
      await this.#containerd?.stop();
      await killContainersOf(this.directory);
      unmountBelow(this.directory);
      await removeCgroups(this.#cgroup);
    }
  }

  #at(name: string): string {
    return path.join(this.directory, name);
  }
}

/**
 * Starts dockerd and a containerd for it inside the host's namespace and loads the test images. Needs Debian's docker.io, runc and
 * busybox-static, and iptables for its default network.
 */
export async function startDocker(host: PrivateHost, options: DockerOptions = {}): Promise<Docker> {
  const docker = new Docker(host, options);
  host.defer(() => docker.close());
  await docker.start();
  for (const image of [buildPauseImage(), buildBusyboxImage()]) await load(docker, image);
  return docker;
}

/** @throws Error with the daemon's log: a daemon that ends breaks the connection, and no more is said about it. */
async function load(docker: Docker, image: Buffer): Promise<void> {
  try {
    const { status, body } = await docker.call('POST', '/images/load?quiet=1', image);
    if (status !== 200) throw new Error(`${status} ${body}`);
  } catch (error) {
    throw new Error(`docker load: ${(error as Error).message}\n${docker.log()}`, { cause: error });
  }
}

/** Of this process. */
let started = 0;

interface ListedContainer {
  readonly Id: string;
  readonly Names: readonly string[];
  readonly State: string;
}

/** Whatever else than these a daemon is given about the network is its default. */
const withoutNetwork = [
  '--bridge=none',
  ...['--iptables=false', '--ip6tables=false', '--ip-forward=false', '--ip-masq=false'],
];

function daemonCommand(directory: string, cgroup: string, network: 'none' | 'default'): string[] {
  const at = (name: string): string => path.join(directory, name);
  return [
    '/usr/sbin/dockerd',
    ...['--host', `unix://${at('docker.sock')}`, '--containerd', at('containerd.sock')],
    ...['--data-root', at('root'), '--exec-root', at('exec'), '--pidfile', at('docker.pid')],
    ...['--config-file', at('daemon.json')],
    ...(network === 'none' ? withoutNetwork : []),
    // Lowering it needs CAP_SYS_RESOURCE; the daemon's default is -500.
    '--oom-score-adjust=0',
    ...['--exec-opt=native.cgroupdriver=cgroupfs', `--cgroup-parent=/${cgroup}`],
  ];
}

function containerdConfiguration(directory: string): string {
  const text = (name: string): string => JSON.stringify(path.join(directory, name)); // a TOML basic string
  fs.writeFileSync(path.join(directory, 'daemon.json'), '{}');
  return `version = 2
root = ${text('containerd/root')}
state = ${text('containerd/state')}
disabled_plugins = ["io.containerd.grpc.v1.cri", "io.containerd.internal.v1.opt"]
[grpc]
  address = ${text('containerd.sock')}
`;
}

/** The shims of this engine's containers, and what they hold: their command lines name its socket. */
async function killContainersOf(directory: string): Promise<void> {
  const socket = path.join(directory, 'containerd.sock');
  const pids = fs.readdirSync('/proc').filter((entry) => /^\d+$/.test(entry));
  const shims = pids.filter((pid) => {
    const argv = commandLine(pid);
    return argv[0]?.includes('containerd-shim') === true && argv.includes(socket);
  });
  const children = pids.filter((pid) => shims.includes(parentOf(pid)));
  for (const pid of [...shims, ...children]) killQuietly(Number(pid));
  await untilGone([...shims, ...children]);
  removeShimSockets(directory);
}

/** Shims listen in a directory that all containerds of the machine share, and each bundle says where. */
function removeShimSockets(directory: string): void {
  const tasks = path.join(directory, 'containerd/state/io.containerd.runtime.v2.task/moby');
  const bundles = fs.existsSync(tasks) ? fs.readdirSync(tasks) : [];
  for (const bundle of bundles) {
    const [, socket] = /^unix:\/\/(.+)$/.exec(readQuietly(path.join(tasks, bundle, 'address')).trim()) ?? [];
    if (socket !== undefined) fs.rmSync(socket, { force: true });
  }
}

/** Removes dockerd's remains of its containers' control groups, in all hierarchies; inner ones first. */
async function removeCgroups(name: string): Promise<void> {
  const root = '/sys/fs/cgroup';
  for (const hierarchy of ['', ...fs.readdirSync(root)]) await removeCgroup(path.join(root, hierarchy, name));
}

async function removeCgroup(directory: string): Promise<void> {
  if (!fs.existsSync(directory)) return;
  const entries = fs.readdirSync(directory, { withFileTypes: true });
  for (const entry of entries) if (entry.isDirectory()) await removeCgroup(path.join(directory, entry.name));
  for (let attempt = 0; ; attempt += 1) {
    try {
      return fs.rmdirSync(directory);
    } catch (error) {
      // Whatever was killed in it takes a moment to be gone.
      if (attempt === 200 || (error as NodeJS.ErrnoException).code !== 'EBUSY') throw error;
      await setTimeout(10);
    }
  }
}

function commandLine(pid: string): string[] {
  return readQuietly(`/proc/${pid}/cmdline`).split('\0');
}

function parentOf(pid: string): string {
  return /^PPid:\s*(\d+)$/m.exec(readQuietly(`/proc/${pid}/status`))?.[1] ?? '';
}

function readQuietly(file: string): string {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch {
    return ''; // it ended meanwhile
  }
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** They are not children of this process, so their end raises no event. */
async function untilGone(pids: readonly string[]): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    if (pids.every((pid) => readQuietly(`/proc/${pid}/cmdline`) === '')) return;
    await setTimeout(10);
  }
}

function request(socketPath: string, method: string, target: string, body: unknown): Promise<DockerAnswer> {
  const bytes =
    body === undefined || Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body), 'utf8');
  const type = Buffer.isBuffer(body) ? 'application/x-tar' : 'application/json';
  const headers = bytes === undefined ? {} : { 'content-type': type, 'content-length': bytes.length };
  return new Promise((resolve, reject) => {
    const outgoing = http.request({ socketPath, method, path: target, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString('utf8') }),
      );
    });
    outgoing.setTimeout(60_000, () => outgoing.destroy(new Error(`no answer: ${method} ${target}`)));
    outgoing.on('error', reject);
    outgoing.end(bytes);
  });
}
