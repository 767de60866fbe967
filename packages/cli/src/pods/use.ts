/** Resource use of pods, for people. */
import type { ContainerUse, PodUse } from '@podwire/podlet';
import { type Colors, printable } from '../io.js';
import { type Column, renderTable } from '../render/table.js';
import { fullName } from './names.js';

interface MeasuredContainer extends ContainerUse {
  /** Of one processor, 1 is all of it; absent where it was not seen twice. */
  readonly cpu?: number;
}

export interface MeasuredUse extends PodUse {
  readonly containers: readonly MeasuredContainer[];
}

/** The share of the processors between two looks. An instance that has begun in between has used less than before. */
export function measureUse(before: readonly PodUse[], now: readonly PodUse[]): MeasuredUse[] {
  return now.map((pod) => {
    const old = before.find((each) => fullName(each) === fullName(pod));
    return {
      ...pod,
      containers: pod.containers.map((each) =>
        measure(
          old?.containers.find(({ name }) => name === each.name),
          each,
        ),
      ),
    };
  });
}

function measure(old: ContainerUse | undefined, now: ContainerUse): MeasuredContainer {
  const seconds = now.at - (old?.at ?? now.at);
  const used = now.cpuSeconds - (old?.cpuSeconds ?? 0);
  return seconds > 0 && used >= 0 ? { ...now, cpu: used / seconds } : now;
}

const head: readonly Column[] = [
  { title: 'POD' },
  { title: 'CONTAINER' },
  { title: 'CPU', right: true },
  { title: 'MEMORY', right: true },
  { title: 'PROCESSES', right: true, importance: 1 },
  { title: 'RECEIVED', right: true, importance: 3 },
  { title: 'SENT', right: true, importance: 2 },
];

/** A line for each container; processes and bytes are the pod's, and stand in its first line. */
export function renderUse(pods: readonly MeasuredUse[], paint: Colors, width: number): string[] {
  const sorted = pods.toSorted((a, b) => (fullName(a) < fullName(b) ? -1 : 1));
  return renderTable({ head, rows: sorted.flatMap(rowsOf) }, paint, width);
}

function rowsOf(pod: MeasuredUse): string[][] {
  const name = printable(fullName(pod));
  const own = [pod.processes?.toString() ?? '-', formatBytes(pod.rxBytes), formatBytes(pod.txBytes)];
  if (pod.containers.length === 0) return [[name, '-', '-', '-', ...own]];
  return pod.containers.map((each, index) => [
    name,
    printable(each.name),
    each.cpu === undefined ? '-' : `${(each.cpu * 100).toFixed(1)}%`,
    formatBytes(each.memoryBytes),
    ...(index === 0 ? own : ['', '', '']),
  ]);
}

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

/** `3.4MiB`: one word, for `awk`. */
export function formatBytes(bytes: number | undefined): string {
  if (bytes === undefined) return '-';
  let [value, unit] = [bytes, 0];
  while (value >= 1024 && unit < units.length - 1) [value, unit] = [value / 1024, unit + 1];
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)}${units[unit]}`;
}
