import fs from 'node:fs';
import os from 'node:os';

export interface Machine {
  readonly kernel: string;
  readonly processor: string;
  readonly processors: number;
  /** Version. */
  readonly node: string;
}

export function describeMachine(): Machine {
  const processors = os.cpus();
  return {
    kernel: fs.readFileSync('/proc/sys/kernel/osrelease', 'utf8').trim(),
    processor: processors[0]?.model ?? 'unknown',
    processors: processors.length,
    node: process.versions.node,
  };
}

export const formatMachine = ({ kernel, processor, processors, node }: Machine): string =>
  `Linux ${kernel}, ${processors} × ${processor}, Node ${node}`;
