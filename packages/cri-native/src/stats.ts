/** Usage of containers, added up over their processes: there are no cgroups of their own here. */
import fs from 'node:fs/promises';
import {
  ContainerStats,
  type CpuUsage,
  type MemoryUsage,
  PodSandboxStats,
  nowNanoseconds,
  parseNetDev,
} from '@podwire/cri';
import { compact } from '@podwire/platform';
import type { Context } from './context.js';
import type { LayerUse } from './layers.js';
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
async function readProcFile(file: string): Promise<string | undefined> {
  try {
    return await fs.readFile(file, 'utf8');
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

/** How many files of /proc are read for one container; one that has more processes than that is known in part. */
const MOST_READS = 10_000;

/** The process and all below it. */
async function useOfTree(pid: number): Promise<ProcessUse> {
  let use = none;
  const left = [pid];
  for (let reads = 0; left.length > 0 && reads < MOST_READS; reads++) {
    const next = left.pop() as number;
    const stat = await readProcFile(`/proc/${next}/stat`);
    if (stat === undefined) continue;
    use = add(use, parseStat(stat));
    const threads = await listThreads(next, MOST_READS - reads);
    reads += threads.length;
    for (const thread of threads) left.push(...(await childrenOf(next, thread)));
  }
  return use;
}

async function listThreads(pid: number, most: number): Promise<string[]> {
  try {
    return (await fs.readdir(`/proc/${pid}/task`)).slice(0, most);
  } catch {
    return [];
  }
}

/** Each thread has its own children. */
async function childrenOf(pid: number, thread: string): Promise<number[]> {
  const text = (await readProcFile(`/proc/${pid}/task/${thread}/children`)) ?? '';
  return text
    .split(' ')
    .filter((word) => word !== '')
    .map(Number);
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

async function useOfContainer(entry: ContainerEntry): Promise<ProcessUse> {
  return entry.shim === undefined ? none : useOfTree(entry.shim.process.pid);
}

export async function statsOfContainer(context: Context, entry: ContainerEntry): Promise<ContainerStats> {
  const { id, metadata, labels, annotations } = { ...entry.record.config, id: entry.record.id };
  const timestamp = nowNanoseconds(context.clock);
  const [use, layer] = await Promise.all([useOfContainer(entry), context.layers.useOf(entry.record.id)]);
  return ContainerStats.fromPartial({
    attributes: { id, metadata, labels, annotations },
    cpu: cpuOf(timestamp, use),
    memory: memoryOf(timestamp, use),
    ...(layer === undefined ? {} : { writableLayer: showLayer(context, layer) }),
  });
}

const showLayer = ({ directory }: Context, { timestamp, bytes, inodes }: LayerUse) => ({
  timestamp,
  fsId: { mountpoint: directory },
  usedBytes: { value: BigInt(bytes) },
  inodesUsed: { value: BigInt(inodes) },
});

export async function statsOfSandbox(context: Context, entry: SandboxEntry): Promise<PodSandboxStats> {
  const { id, config } = entry.record;
  const { metadata, labels, annotations } = config;
  const timestamp = nowNanoseconds(context.clock);
  const containers = containersOf(context.inventory, id);
  const use = (await Promise.all(containers.map(useOfContainer))).reduce(add, none);
  const pause = entry.pause?.process.pid;
  const links = parseNetDev((pause && (await readProcFile(`/proc/${pause}/net/dev`))) || '');
  const first = links.find((link) => link.name === 'eth0');
  return PodSandboxStats.fromPartial({
    attributes: { id, metadata, labels, annotations },
    linux: {
      cpu: cpuOf(timestamp, use),
      memory: memoryOf(timestamp, use),
      network: {
        timestamp,
        interfaces: links.filter((link) => link !== first),
        ...compact({ defaultInterface: first }),
      },
      process: { timestamp, processCount: { value: use.processes } },
      containers: await Promise.all(containers.map((each) => statsOfContainer(context, each))),
    },
  });
}
