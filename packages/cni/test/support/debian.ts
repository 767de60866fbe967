import fs from 'node:fs';
import path from 'node:path';
import {
  createPrivateHost,
  type HostOptions,
  type PrivateHost,
  takeSnapshot,
  type TestNamespace,
} from '@podwire/testkit';
import {
  type AttachmentParameters,
  convertResult,
  createProcessExec,
  createRuntime,
  type NetworkConfig,
  parseNetwork,
  type Result,
  type Runtime,
} from '../../src/index.js';

/** Where Debian's package `containernetworking-plugins` puts them. */
export const pluginDirectory = '/usr/lib/cni';

/** A private host on which a runtime of this library runs Debian's plugins. */
export interface DebianHost {
  readonly host: PrivateHost;
  readonly runtime: Runtime;
  /** Directory of the host for a plugin's own files. */
  directory(name: string): string;
  /** host-local with its files inside the host's directory. */
  hostLocal(subnet: string, more?: object): object;
  /** Addresses that host-local has given out in a network. */
  leases(network: string): string[];
  /** Files that ADD leaves in the cache. */
  cached(): string[];
}

export interface DebianHostOptions extends HostOptions {
  /**
   * The only programs that plugins find. With ip6tables at hand, CHECK of portmap 1.1.1 looks for the rules of IPv4
   * addresses there and fails.
   */
  readonly programs?: readonly string[];
}

export async function createDebianHost(options: DebianHostOptions): Promise<DebianHost> {
  if (!fs.existsSync(path.join(pluginDirectory, 'bridge'))) {
    throw new Error('Debian package containernetworking-plugins is missing');
  }
  const host = await createPrivateHost(options);
  const directory = (name: string): string => {
    const made = path.join(host.directory, name);
    fs.mkdirSync(made, { recursive: true });
    return made;
  };
  const list = (folder: string): string[] => (fs.existsSync(folder) ? fs.readdirSync(folder).toSorted() : []);
  return {
    host,
    directory,
    runtime: createRuntime({
      pluginPath: [pluginDirectory, directory('plugins')],
      cacheDir: path.join(host.directory, 'cache'),
      rollback: true,
      durable: false,
      timeoutMs: 30_000,
      ...(options.programs && { env: { PATH: linkPrograms(directory('bin'), options.programs) } }),
      exec: createProcessExec({ around: (start) => host.namespace.inside(start) }),
    }),
    hostLocal: (subnet, more = {}) => ({
      type: 'host-local',
      dataDir: path.join(host.directory, 'leases'),
      ranges: [[{ subnet }]],
      ...more,
    }),
    leases: (network) =>
      list(path.join(host.directory, 'leases', network)).filter((name) => /^[\da-f.:]+$/.test(name)),
    cached: () => list(path.join(host.directory, 'cache/results')),
  };
}

function linkPrograms(folder: string, names: readonly string[]): string {
  for (const name of names) fs.symlinkSync(path.join('/usr/sbin', name), path.join(folder, name));
  return folder;
}

/** A network list of the given plugins; 1.0.0 is the newest version that Debian 12's plugins speak. */
export function networkOf(name: string, plugins: readonly object[], cniVersion = '1.0.0'): NetworkConfig {
  return parseNetwork(JSON.stringify({ name, cniVersion, plugins }));
}

export function attachmentOf(
  pod: TestNamespace,
  more: Partial<AttachmentParameters> = {},
): AttachmentParameters {
  return { containerId: pod.name, interfaceName: 'eth0', netns: pod.path, ...more };
}

/** The result of ADD in the newest version, whatever was asked for. */
export async function addTo(
  { runtime }: DebianHost,
  network: NetworkConfig,
  attachment: AttachmentParameters,
): Promise<Result> {
  return convertResult(await runtime.add(network, attachment), '1.1.0');
}

/** A link as `ip -j` shows it. */
export interface LinkRow {
  readonly ifname: string;
  readonly address: string;
  readonly mtu: number;
  readonly operstate: string;
  readonly flags: readonly string[];
  readonly linkinfo?: { readonly info_kind?: string; readonly info_data?: Record<string, unknown> };
  readonly master?: string;
  readonly addr_info: readonly {
    readonly family: string;
    readonly local: string;
    readonly prefixlen: number;
    readonly scope: string;
  }[];
}

async function ask<T>(namespace: TestNamespace, ...argv: string[]): Promise<T> {
  const text = await namespace.run(argv);
  return JSON.parse(text.trim() === '' ? '[]' : text) as T;
}

export async function linksOf(namespace: TestNamespace): Promise<readonly LinkRow[]> {
  return ask(namespace, 'ip', '-j', '-d', 'address', 'show');
}

export async function linkOf(namespace: TestNamespace, name: string): Promise<LinkRow> {
  const links = await linksOf(namespace);
  const found = links.find(({ ifname }) => ifname === name);
  if (found === undefined)
    throw new Error(`no link ${name}, only ${links.map(({ ifname }) => ifname).join(', ')}`);
  return found;
}

/** Global addresses of a link with their prefix lengths. */
export async function addressesOf(namespace: TestNamespace, name: string): Promise<string[]> {
  const { addr_info: rows } = await linkOf(namespace, name);
  return rows
    .filter(({ scope }) => scope === 'global')
    .map(({ local, prefixlen }) => `${local}/${prefixlen}`);
}

/** Routes of the main table that name a gateway: destination → gateway. */
export async function gatewaysOf(
  namespace: TestNamespace,
  family: 4 | 6 = 4,
): Promise<Record<string, string>> {
  const rows = await ask<{ dst: string; gateway?: string }[]>(
    namespace,
    'ip',
    '-j',
    `-${family}`,
    'route',
    'show',
  );
  return Object.fromEntries(
    rows.flatMap(({ dst, gateway }) => (gateway === undefined ? [] : [[dst, gateway]])),
  );
}

export async function qdiscsOf(
  namespace: TestNamespace,
): Promise<readonly { dev: string; kind: string; options?: Record<string, unknown> }[]> {
  return ask(namespace, 'tc', '-j', 'qdisc', 'show');
}

/** Everything of the host and of the pods, to see what is left at the end. */
export async function snapshotAll({ host }: DebianHost): Promise<readonly unknown[]> {
  return Promise.all([host.namespace, ...host.pods].map((namespace) => takeSnapshot(namespace)));
}
