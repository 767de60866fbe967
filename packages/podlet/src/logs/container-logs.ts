/** Container logs, which the runtime writes: rotation, links, removal. */
import fs from 'node:fs/promises';
import type { CriRuntime } from '@podwire/cri';
import { type Clock, forEachLimited, ifExists, type Log, succeeds } from '@podwire/platform';
import type { PodletDirectories } from '../contract.js';
import { linkName, type LogOwner, makeLink, removeDeadLinks, removeLink } from './links.js';
import { isInterrupted, removeLog, rotateLog } from './rotate-log.js';

export type { LogOwner };

export interface RotationPolicy {
  /** bytes from which on a log is rotated; 10 MiB when absent, as the kubelet's; 0: never */
  readonly maxBytes?: number;
  /** Of one container, with the one that is written to: at least 2; 5 when absent. */
  readonly maxFiles?: number;
}

/** Nothing of it throws: what goes wrong with a log is said in the agent's own. */
export interface ContainerLogs {
  started(owner: LogOwner): Promise<void>;
  /** The container is gone from the runtime. */
  removed(owner: LogOwner): Promise<void>;
  /** Looks at the logs of running containers. */
  rotate(running: readonly LogOwner[], signal: AbortSignal): Promise<void>;
  /** Makes links that are missing, and removes those to logs that are gone. */
  repairLinks(present: readonly LogOwner[]): Promise<void>;
}

export interface ContainerLogsOptions {
  /** As it is when logs are looked at; it may change. */
  readonly rotation?: RotationPolicy;
  readonly runtime: Pick<CriRuntime, 'reopenContainerLog'>;
  readonly directories: Pick<PodletDirectories, 'logs' | 'logLinks'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
}

const defaults = { maxBytes: 10 << 20, maxFiles: 5 } as const;
/** Of ReopenContainerLog. */
const reopenTimeoutMs = 30_000;
/** Logs that are compressed at once. */
const concurrent = 4;

export function createContainerLogs(options: ContainerLogsOptions): ContainerLogs {
  const { logs, logLinks } = options.directories;
  const attempt = async (what: string, file: string, work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      options.log.warn({ log: file, err: error }, what);
    }
  };
  // Only what is ours is moved and removed, whatever a runtime says of its containers.
  const isOurs = ({ logPath }: LogOwner): boolean => logPath.startsWith(`${logs}/`);
  const link = async (owner: LogOwner): Promise<void> => {
    if (logLinks === undefined || !isOurs(owner)) return;
    await attempt('the link to a log could not be made', owner.logPath, () => makeLink(logLinks, owner));
  };
  return {
    started: link,
    async removed(owner) {
      if (!isOurs(owner)) return;
      await attempt('a log could not be removed', owner.logPath, () => removeLog(owner.logPath));
      if (logLinks === undefined) return;
      await attempt('the link to a log could not be removed', owner.logPath, () =>
        removeLink(logLinks, owner),
      );
    },
    rotate: (running, signal) =>
      forEachLimited(running.filter(isOurs), concurrent, async (owner) => {
        if (signal.aborted) return;
        await attempt('a log could not be rotated', owner.logPath, () => rotateOne(options, owner, signal));
      }),
    async repairLinks(present) {
      if (logLinks === undefined) return;
      for (const owner of present) if (await succeeds(fs.access(owner.logPath))) await link(owner);
      const owned = new Set(present.map(linkName));
      await attempt('links to logs could not be looked at', logLinks, () =>
        removeDeadLinks(logLinks, logs, owned),
      );
    },
  };
}

async function rotateOne(
  { runtime, clock, rotation }: ContainerLogsOptions,
  { logPath, containerId }: LogOwner,
  signal: AbortSignal,
): Promise<void> {
  const { maxBytes, maxFiles } = { ...defaults, ...rotation };
  if (maxBytes <= 0) return;
  const reopen = async (): Promise<void> => {
    await runtime.reopenContainerLog({ containerId }, { signal, timeoutMs: reopenTimeoutMs });
  };
  // A log that is a link is another program's (Docker's own, behind dockershim): it sees to it.
  const stats = await ifExists(fs.lstat(logPath));
  if (stats === undefined) return (await isInterrupted(logPath)) ? reopen() : undefined;
  if (!stats.isFile() || stats.size < maxBytes) return;
  await rotateLog(logPath, { maxFiles, now: clock.now(), reopen });
}
