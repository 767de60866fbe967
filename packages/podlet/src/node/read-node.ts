import { readFileSync } from 'node:fs';
import fs from 'node:fs/promises';
import os from 'node:os';
import { firstOfEachFamily, nodeAddresses } from '@podwire/addresses';
import type { CgroupLocation } from '../cgroups/names.js';
import type { PodletNode } from '../contract.js';
import { compact, readIfExists } from '@podwire/platform';
import { parseResolvConf } from '../runtime-config/dns.js';

export interface NodeOptions {
  /** The machine's host name when absent. */
  readonly name?: string;
  /** Instead of those of the machine's interfaces. */
  readonly addresses?: readonly string[];
  readonly clusterDns?: readonly string[];
  readonly clusterDomain?: string;
  /** Instead of the machine's, and then it must be there; empty: pods get nothing of the machine's. */
  readonly resolvConf?: string;
  readonly hostsFile?: string;
  readonly oomScoreAdjustment?: number;
  readonly cgroups?: CgroupLocation;
  /** Beside those that every node has. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly allowedUnsafeSysctls?: readonly string[];
  /** Instead of what the kernel says: some runtimes apply no profile. */
  readonly appArmor?: boolean;
  /** The operating system, which tests replace. */
  readonly system?: Pick<typeof os, 'hostname' | 'networkInterfaces' | 'totalmem' | 'cpus' | 'arch'>;
}

/** Facts of this node. Files are read on demand, since they change. */
export function readNode(options: NodeOptions = {}): PodletNode {
  const { system = os, hostsFile, oomScoreAdjustment, cgroups } = options;
  const name = options.name ?? nodeName(system.hostname());
  return {
    name,
    labels: { ...usualLabels(name, system.arch()), ...options.labels },
    ...milliCpuOf(system.cpus().length),
    appArmor: options.appArmor ?? hasAppArmor(),
    allowedUnsafeSysctls: options.allowedUnsafeSysctls ?? [],
    // Read anew each time: a lease may come, or change, after the start.
    get addresses() {
      return firstOfEachFamily(options.addresses ?? nodeAddresses(system.networkInterfaces()));
    },
    resolvConf: () => readResolvConf(options.resolvConf),
    hosts: () => (hostsFile === undefined ? readOptional('/etc/hosts') : fs.readFile(hostsFile, 'utf8')),
    clusterDns: options.clusterDns ?? [],
    clusterDomain: options.clusterDomain ?? 'cluster.local',
    memoryBytes: BigInt(system.totalmem()),
    ...compact({ oomScoreAdjustment, cgroups }),
  };
}

/** The kernel has it, and it was switched on when it started. */
function hasAppArmor(): boolean {
  try {
    return readFileSync('/sys/module/apparmor/parameters/enabled', 'utf8').startsWith('Y');
  } catch {
    return false;
  }
}

/** Processors are not counted if /proc does not list them. */
function milliCpuOf(processors: number): Pick<PodletNode, 'milliCpu'> {
  return processors === 0 ? {} : { milliCpu: BigInt(processors) * 1000n };
}

/** Go's, and so Kubernetes', names of architectures that Node calls otherwise. */
const architectures: Readonly<Record<string, string>> = {
  x64: 'amd64',
  ia32: '386',
  mipsel: 'mipsle',
  ppc64: 'ppc64le',
};

/** Those that the kubelet gives to every node. */
function usualLabels(name: string, architecture: string): Record<string, string> {
  const arch = architectures[architecture] ?? architecture;
  return {
    'kubernetes.io/hostname': name,
    'kubernetes.io/os': 'linux',
    'kubernetes.io/arch': arch,
    'beta.kubernetes.io/os': 'linux',
    'beta.kubernetes.io/arch': arch,
  };
}

/** As Kubernetes names nodes: small letters, without blanks. */
function nodeName(hostname: string): string {
  return hostname.trim().toLowerCase();
}

async function readResolvConf(file: string | undefined): Promise<string> {
  if (file === '') return '';
  return file === undefined ? readOptional(await resolvConfFile()) : fs.readFile(file, 'utf8');
}

export interface ResolvConfPlaces {
  readonly usual: string;
  /** The file in which systemd-resolved writes the servers that it asks itself. */
  readonly upstream: string;
}

const places: ResolvConfPlaces = {
  usual: '/etc/resolv.conf',
  upstream: '/run/systemd/resolve/resolv.conf',
};

/**
 * The resolv.conf that pods may have. Where the usual one names only the machine's own loopback, on which systemd-resolved listens,
 * no server answers in a pod: then it is the one with the servers behind it.
 */
export async function resolvConfFile({ usual, upstream }: ResolvConfPlaces = places): Promise<string> {
  const { servers } = parseResolvConf(await readOptional(usual));
  const isStub = servers.length > 0 && servers.every(isLoopback);
  if (!isStub) return usual;
  return parseResolvConf(await readOptional(upstream)).servers.length > 0 ? upstream : usual;
}

function isLoopback(server: string): boolean {
  return server.startsWith('127.') || server === '::1';
}

/** @returns empty text when the machine has no such file */
async function readOptional(file: string): Promise<string> {
  return (await readIfExists(file)) ?? '';
}
