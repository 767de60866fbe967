/** What containers use, added up over their processes: there are no cgroups of their own here. */
import fs from 'node:fs';
import path from 'node:path';
import {
  ContainerStats,
  type ContainerStatsFilter,
  type CpuUsage,
  type MemoryUsage,
  PodSandboxStats,
} from '@podwire/cri';
import { type Context, nowNanoseconds } from './context.js';
import { hasLabels } from './sandbox/status.js';
import { containerDirectory } from './state/directory.js';
import { type ContainerEntry, containersOf, type SandboxEntry } from './state/inventory.js';

/** proc(5): USER_HZ is 100 on Linux. */
const TICK_NANOSECONDS = 10_000_000n;
const PAGE_BYTES = 4096n;

interface ProcessUse {
  readonly ticks: bigint;
  readonly pages: bigint;
  readonly faults: bigint;
  readonly majorFaults: bigint;
  readonly processes: bigint;
}

const none: ProcessUse = { ticks: 0n, pages: 0n, faults: 0n, majorFaults: 0n, processes: 0n };

const add = (a: ProcessUse, b: ProcessUse): ProcessUse => ({
  ticks: a.ticks + b.ticks,
  pages: a.pages + b.pages,
  faults: a.faults + b.faults,
  majorFaults: a.majorFaults + b.majorFaults,
  processes: a.processes + b.processes,
});

/** Undefined for a file of a process that has ended meanwhile. */
function readProcFile(file: string): string | undefined {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

/** Fields of /proc/PID/stat, counted from 1 as proc(5) does; children that were waited for are in it too. */
export function parseStat(text: string): ProcessUse {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const field = (number: number): bigint => BigInt(fields[number - 3] ?? 0);
  const ticks = field(14) + field(15) + field(16) + field(17);
  return { ticks, pages: field(24), faults: field(10), majorFaults: field(12), processes: 1n };
}

/** The process and all below it. */
function useOfTree(pid: number): ProcessUse {
  const stat = readProcFile(`/proc/${pid}/stat`);
  if (stat === undefined) return none;
  return childrenOf(pid).map(useOfTree).reduce(add, parseStat(stat));
}

/** Each thread has its own children. */
function childrenOf(pid: number): number[] {
  let threads: string[];
  try {
    threads = fs.readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
  const texts = threads.map((thread) => readProcFile(`/proc/${pid}/task/${thread}/children`) ?? '');
  return texts.flatMap((text) => text.split(' ').filter((word) => word !== '')).map(Number);
}

function cpuOf(timestamp: bigint, use: ProcessUse): Usage<CpuUsage> {
  return { timestamp, usageCoreNanoSeconds: { value: use.ticks * TICK_NANOSECONDS } };
}

function memoryOf(timestamp: bigint, use: ProcessUse): Usage<MemoryUsage> {
  const bytes = { value: use.pages * PAGE_BYTES };
  return {
    timestamp,
    ...{ workingSetBytes: bytes, usageBytes: bytes, rssBytes: bytes },
    pageFaults: { value: use.faults },
    majorPageFaults: { value: use.majorFaults },
  };
}

/** Those of its numbers that are known. */
type Usage<T> = { readonly [Name in keyof T]?: T[Name] };

/** What a container has written over its root directory. */
function layerOf(directory: string): { bytes: bigint; inodes: bigint } {
  let [bytes, inodes] = [0n, 0n];
  const entries = fs.existsSync(directory) ? fs.readdirSync(directory, { recursive: true }) : [];
  for (const name of entries) {
    const info = fs.lstatSync(path.join(directory, String(name)), { throwIfNoEntry: false });
    if (info === undefined) continue;
    inodes += 1n;
    bytes += BigInt(info.blocks) * 512n;
  }
  return { bytes, inodes };
}

function useOfContainer(entry: ContainerEntry): ProcessUse {
  return entry.shim === undefined ? none : useOfTree(entry.shim.process.pid);
}

export function statsOfContainer(context: Context, entry: ContainerEntry): ContainerStats {
  const { id, config } = entry.record;
  const { metadata, labels, annotations } = config;
  const timestamp = nowNanoseconds(context.clock);
  const use = useOfContainer(entry);
  const layer = layerOf(path.join(containerDirectory(context.directory, id), 'layer', 'upper'));
  return ContainerStats.fromPartial({
    attributes: { id, metadata, labels, annotations },
    cpu: cpuOf(timestamp, use),
    memory: memoryOf(timestamp, use),
    writableLayer: {
      timestamp,
      fsId: { mountpoint: context.directory },
      usedBytes: { value: layer.bytes },
      inodesUsed: { value: layer.inodes },
    },
  });
}

export function matchesStats({ record }: ContainerEntry, filter: ContainerStatsFilter | undefined): boolean {
  if (filter === undefined) return true;
  if (!record.id.startsWith(filter.id) || !record.sandboxId.startsWith(filter.podSandboxId)) return false;
  return hasLabels(record.config.labels, filter.labelSelector);
}

export interface InterfaceUse {
  readonly name: string;
  readonly rxBytes: { readonly value: bigint };
  readonly rxErrors: { readonly value: bigint };
  readonly txBytes: { readonly value: bigint };
  readonly txErrors: { readonly value: bigint };
}

/** /proc/net/dev: two lines of head, then `name: 8 received 8 sent`. */
export function parseNetDev(text: string): InterfaceUse[] {
  const lines = text.split('\n').slice(2);
  return lines.flatMap((line) => {
    const [name = '', numbers = ''] = line.split(':').map((part) => part.trim());
    const columns = numbers.split(/\s+/).map((word) => ({ value: BigInt(word === '' ? 0 : word) }));
    const [rxBytes, , rxErrors, , , , , , txBytes, , txErrors] = columns;
    if (!rxBytes || !rxErrors || !txBytes || !txErrors) return [];
    return [{ name, rxBytes, rxErrors, txBytes, txErrors }];
  });
}

export function statsOfSandbox(context: Context, entry: SandboxEntry): PodSandboxStats {
  const { id, config } = entry.record;
  const { metadata, labels, annotations } = config;
  const timestamp = nowNanoseconds(context.clock);
  const containers = containersOf(context.inventory, id);
  const use = containers.map(useOfContainer).reduce(add, none);
  const holder = entry.holder?.process.pid;
  const links = parseNetDev((holder && readProcFile(`/proc/${holder}/net/dev`)) || '');
  const first = links.find((link) => link.name === 'eth0');
  return PodSandboxStats.fromPartial({
    attributes: { id, metadata, labels, annotations },
    linux: {
      cpu: cpuOf(timestamp, use),
      memory: memoryOf(timestamp, use),
      network: {
        timestamp,
        interfaces: links.filter((link) => link !== first),
        ...(first === undefined ? {} : { defaultInterface: first }),
      },
      process: { timestamp, processCount: { value: use.processes } },
      containers: containers.map((each) => statsOfContainer(context, each)),
    },
  });
}
