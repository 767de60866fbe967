/** A machine of its own with Docker Engine, CNI plugins of Debian and the sandbox service. */
import fs from 'node:fs';
import path from 'node:path';
import { connectCri, type CriConnection, PodSandboxConfig } from '@podwire/cri';
import { replaceFileSync } from '@podwire/platform';
import { createPrivateHost, type Exit, type PrivateHost, type RunningProcess, run } from '@podwire/testkit';
import { pauseImage } from '@podwire/testkit/containerd';
import { type Docker, startDocker } from '@podwire/testkit/docker';
import type { ServiceConfig } from './service-process.js';

export interface SandboxHost {
  readonly host: PrivateHost;
  readonly docker: Docker;
  readonly service: Service;
  /** The latest connection to the service. */
  readonly cri: CriConnection;
  readonly netnsDirectory: string;
  readonly root: string;
  /** Addresses that host-local has handed out. */
  leases(): string[];
  /** Names of the namespaces that are pinned. */
  pinned(): string[];
  /** Names of the links in the host's namespace but for `lo` and the bridge. */
  links(): Promise<string[]>;
  close(): Promise<void>;
}

export interface Service {
  log(): string;
  /** From the next start on. */
  reconfigure(config: Partial<ServiceConfig>): void;
  start(env?: Readonly<Record<string, string>>): Promise<void>;
  /** Starts it where it will die before it is ready. */
  startAndDie(env: Readonly<Record<string, string>>): Promise<void>;
  kill9(): Promise<void>;
  /** @returns what it said of its locks at the end */
  stop(): Promise<string>;
  exited(): Promise<Exit>;
}

export interface SandboxHostOptions {
  readonly name?: string;
  /** Plugins before and after bridge + host-local; their executables are in the host's `bin`. */
  readonly before?: readonly object[];
  readonly after?: readonly object[];
  readonly world?: boolean;
  /** A network of other plugins, in the place of bridge + host-local. */
  readonly network?: (host: PrivateHost) => Promise<{ readonly binDir: string; readonly confDir: string }>;
  /** Goes between the service and the engine. */
  readonly dockerSocket?: (docker: Docker, host: PrivateHost) => Promise<string>;
  readonly config?: Partial<ServiceConfig>;
  readonly env?: Readonly<Record<string, string>>;
}

const program = path.join(import.meta.dirname, 'service-process.js');

export async function createSandboxHost(options: SandboxHostOptions = {}): Promise<SandboxHost> {
  const host = await createPrivateHost({ name: options.name ?? 'sbx', world: options.world ?? false });
  try {
    return await furnish(host, options);
  } catch (error) {
    await host.close();
    throw error;
  }
}

async function furnish(host: PrivateHost, options: SandboxHostOptions): Promise<SandboxHost> {
  const at = (name: string): string => path.join(host.directory, name);
  for (const name of ['bin', 'net.d', 'leases', 'netns', 'empty'])
    fs.mkdirSync(at(name), { recursive: true });
  writePlugin(at('bin'), at('calls'));
  writeNetwork(host, options);
  fs.writeFileSync(at('boot-id'), 'the first boot\n');
  const other = await options.network?.(host);
  const docker = await startDocker(host);
  const config: ServiceConfig = {
    socket: at('cri.sock'),
    docker: (await options.dockerSocket?.(docker, host)) ?? docker.socket,
    root: at('service'),
    netnsDirectory: at('netns'),
    sandboxImage: pauseImage,
    credentials: at('empty'),
    cni: {
      configDirectory: other?.confDir ?? at('net.d'),
      pluginPath: [other?.binDir ?? at('bin'), '/usr/lib/cni'],
      stateDirectory: at('cni'),
      bootIdFile: at('boot-id'),
    },
    ...options.config,
  };
  fs.writeFileSync(at('service.json'), JSON.stringify(config));
  const { service, current } = createService(host, config, at('service.json'));
  host.defer(async () => {
    current()?.close();
    await service.kill9();
    for (const name of fs.readdirSync(at('netns')))
      await run(['umount', '--lazy', path.join(at('netns'), name)]).catch(() => undefined);
  });
  await service.start(options.env);
  return {
    host,
    docker,
    service,
    get cri() {
      const connection = current();
      if (connection === undefined) throw new Error('the service does not run');
      return connection;
    },
    netnsDirectory: at('netns'),
    root: at('service'),
    leases: () => listLeases(at('leases')),
    pinned: () => fs.readdirSync(at('netns')),
    links: async () => {
      const listed = JSON.parse(await host.run(['ip', '-json', 'link'])) as { ifname: string }[];
      return listed.map(({ ifname }) => ifname).filter((name) => name !== 'lo' && name !== 'cni0');
    },
    close: () => host.close(),
  };
}

function listLeases(directory: string): string[] {
  const networks = fs.existsSync(directory) ? fs.readdirSync(directory) : [];
  return networks.flatMap((name) =>
    fs.readdirSync(path.join(directory, name)).filter((entry) => /^\d+\.|:/.test(entry)),
  );
}

function createService(
  host: PrivateHost,
  { socket }: ServiceConfig,
  file: string,
): { service: Service; current: () => CriConnection | undefined } {
  let running: RunningProcess | undefined;
  let connection: CriConnection | undefined;
  let earlier = '';
  const log = (): string => earlier + (running?.stderr() ?? '');
  const ended = (): void => {
    connection?.close();
    connection = undefined;
  };
  const service: Service = {
    log,
    reconfigure(changed) {
      const before = JSON.parse(fs.readFileSync(file, 'utf8')) as ServiceConfig;
      fs.writeFileSync(file, JSON.stringify({ ...before, ...changed }));
    },
    async start(env = {}) {
      earlier = log();
      fs.rmSync(socket, { force: true });
      const argv = [process.execPath, program, '--config', file];
      running = host.start(argv, { env: { ...process.env, ...env } });
      await running.waitForOutput(/^ready$/m);
      // To choose a version it would ask for the engine's, which need not be there.
      connection = await connectCri({ socket, apiVersion: 'v1' });
    },
    async startAndDie(env) {
      earlier = log();
      running = host.start([process.execPath, program, '--config', file], {
        env: { ...process.env, ...env },
      });
      const { signal } = await running.exited;
      if (signal !== 'SIGKILL') throw new Error(`the service did not die:\n${log()}`);
    },
    async kill9() {
      running?.kill('SIGKILL');
      await running?.exited;
      ended();
    },
    async stop() {
      const exit = await running?.stop();
      ended();
      if (exit?.code !== 0)
        throw new Error(`the service ended with ${exit?.code ?? exit?.signal}:\n${log()}`);
      return /^locks .*$/m.exec(running?.stdout() ?? '')?.[0] ?? '';
    },
    async exited() {
      const exit = await running!.exited;
      ended();
      return exit;
    },
  };
  return { service, current: () => connection };
}

const bridge = (leases: string): object => ({
  type: 'bridge',
  bridge: 'cni0',
  isGateway: true,
  ipam: {
    type: 'host-local',
    ranges: [[{ subnet: '10.77.0.0/24' }]],
    dataDir: leases,
    routes: [{ dst: '0.0.0.0/0' }],
  },
});

export function writeNetwork(host: PrivateHost, { before = [], after = [] }: SandboxHostOptions): void {
  const plugins = [...before, bridge(path.join(host.directory, 'leases')), ...after];
  const text = JSON.stringify({ cniVersion: '1.0.0', name: 'test', plugins });
  replaceFileSync(path.join(host.directory, 'net.d/10-test.conflist'), text);
}

/**
 * A plugin that writes down its calls and passes on what came before it. `failOn` makes a command fail with code 11, `holdAt`
 * waits in a command until the file is gone.
 */
function writePlugin(directory: string, calls: string): void {
  const text = `#!${process.execPath}
const fs = require('node:fs');
const { CNI_COMMAND: command, CNI_CONTAINERID: id, CNI_NETNS: netns } = process.env;
if (command === 'VERSION') {
  console.log(JSON.stringify({ cniVersion: '1.0.0', supportedVersions: ['0.3.0', '0.3.1', '0.4.0', '1.0.0'] }));
  process.exit(0);
}
const config = JSON.parse(fs.readFileSync(0, 'utf8'));
fs.appendFileSync(${JSON.stringify(calls)}, [command, id, netns ? fs.existsSync(netns) : '-'].join(' ') + '\\n');
const hold = config.holdAt?.[command];
if (hold) while (fs.existsSync(hold)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
if (config.failOn === command) {
  console.log(JSON.stringify({ cniVersion: '1.0.0', code: 11, msg: 'not now, says the test' }));
  process.exit(1);
}
if (command === 'ADD') console.log(JSON.stringify(config.prevResult ?? { cniVersion: '1.0.0' }));
`;
  const file = path.join(directory, 'recorder');
  fs.writeFileSync(file, text, { mode: 0o755 });
}

/** The recorder's calls so far: `ADD ID true`. */
export function recordedCalls({ host }: SandboxHost): string[] {
  const file = path.join(host.directory, 'calls');
  return fs.existsSync(file) ? fs.readFileSync(file, 'utf8').trim().split('\n') : [];
}

export function podConfig(
  name: string,
  more: Parameters<typeof PodSandboxConfig.fromPartial>[0] = {},
): PodSandboxConfig {
  return PodSandboxConfig.fromPartial({
    metadata: { name, namespace: 'default', uid: `uid-${name}`, attempt: 0 },
    hostname: name,
    ...more,
  });
}
