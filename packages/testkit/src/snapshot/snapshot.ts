import { compact } from '@podwire/platform';
import fs from 'node:fs';
import type { TestNamespace } from '../namespaces.js';
import { processesIn } from '../namespaces.js';
import { describeDescriptors, describeProcess, readFiles, readSysctls } from './files.js';
import { readLinkState } from './iproute.js';
import { readRuleset } from './nftables.js';

/** Section → key → plain data. Only what stays the same while nothing is changed: no counters, handles, indexes, timers. */
export type Snapshot = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

export interface SnapshotOptions {
  /** Files and directories to read whole: names, modes, contents. */
  readonly files?: readonly string[];
  /** Processes whose open descriptors belong to the picture: label → pid. */
  readonly descriptors?: Readonly<Record<string, number>>;
  /** The programs that run in the namespace. */
  readonly processes?: boolean;
  /** How many connections the kernel tracks. They time out, so this is for quiet namespaces only. */
  readonly conntrack?: boolean;
}

/** Everything that networking software may leave in a namespace, read by iproute2 and nft: not by the code under test. */
export async function takeSnapshot(
  namespace: TestNamespace,
  options: SnapshotOptions = {},
): Promise<Snapshot> {
  const [linkState, nftables] = await Promise.all([readLinkState(namespace), readRuleset(namespace)]);
  return {
    ...linkState,
    nftables,
    sysctls: namespace.inside(() => readSysctls(Object.keys(linkState.links))),
    ...compact({ files: options.files && readFiles(options.files) }),
    ...compact({ descriptors: options.descriptors && descriptorsOf(options.descriptors) }),
    ...(options.processes === true ? { processes: processesOf(namespace) } : {}),
    ...(options.conntrack === true ? { conntrack: namespace.inside(conntrackCount) } : {}),
  };
}

function descriptorsOf(pids: Readonly<Record<string, number>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(pids).map(([label, pid]) => [label, describeDescriptors(pid)]));
}

function processesOf(namespace: TestNamespace): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const pid of processesIn(new Set([namespace.inode]))) {
    const line = describeProcess(pid);
    if (line !== undefined) counts[line] = (counts[line] ?? 0) + 1;
  }
  return counts;
}

function conntrackCount(): Record<string, unknown> {
  return { count: fs.readFileSync('/proc/sys/net/netfilter/nf_conntrack_count', 'utf8').trim() };
}
