import fs from 'node:fs';
import os from 'node:os';

interface Machine {
  readonly kernel: string;
  readonly processor: string;
  readonly processors: number;
  /** Version. */
  readonly node: string;
}

function describeMachine(): Machine {
  const processors = os.cpus();
  return {
    kernel: fs.readFileSync('/proc/sys/kernel/osrelease', 'utf8').trim(),
    processor: processors[0]?.model ?? 'unknown',
    processors: processors.length,
    node: process.versions.node,
  };
}

/** Machine and load: figures of other ones cannot be compared. */
export interface Conditions {
  readonly machine: Machine;
  /** One-minute load average: what else the machine was doing. */
  readonly load: { readonly before: number; readonly after: number };
}

/** Call it before anything is measured, and its result at the end. */
export function noteConditions(): () => Conditions {
  const before = os.loadavg()[0] ?? 0;
  return () => ({ machine: describeMachine(), load: { before, after: os.loadavg()[0] ?? 0 } });
}

export const formatConditions = ({ machine, load }: Conditions): string =>
  `${formatMachine(machine)}; load average ${load.before.toFixed(1)} before, ${load.after.toFixed(1)} after`;

const formatMachine = ({ kernel, processor, processors, node }: Machine): string =>
  `Linux ${kernel}, ${processors} × ${processor}, Node ${node}`;
