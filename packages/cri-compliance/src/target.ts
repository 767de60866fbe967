/** The facts about a runtime that the suite is given, and the context of its cases. */
import type { CriRuntime } from '@podwire/cri';

/** Features that a runtime may lack. Cases that need them are skipped. */
export type Feature =
  /** Containers run real programs. Without it `programs` must say what makes the three below. */
  | 'programs'
  /** Sandboxes have addresses. */
  | 'addresses'
  /** Programs in containers of different sandboxes reach each other. */
  | 'traffic'
  | 'logs'
  | 'mounts'
  /** The sandbox's hostname is seen in containers. */
  | 'hostname'
  /** The sandbox's DNS configuration is in /etc/resolv.conf of its containers. */
  | 'dns'
  /** `run_as_user`. */
  | 'users'
  | 'stats'
  | 'events'
  /** StopPodSandbox and StopContainer of what is not there answer well, as the interface says. */
  | 'stop of unknown'
  /** StopPodSandbox many times at once; without a lock around it a plugin runs several times, and may mind. */
  | 'stops at once'
  /** ListImages heeds its filter. */
  | 'image filter'
  /** The target has an image that may be removed. */
  | 'removable image'
  | 'runtime config'
  /** Two containers of one name and attempt, or two sandboxes of one pod and attempt, are refused. */
  | 'unique names'
  /** Killing SIGKILL's 137 and SIGTERM's own code are told apart. */
  | 'signals';

/** Programs by what they do, as a container's command. */
export interface Programs {
  /** Runs until SIGTERM, then ends with 7. Writes to the file `ready` when it is prepared for that. */
  readonly untilTerm: (ready?: string) => readonly string[];
  /** Runs until SIGKILL. Writes to `ready` when it is prepared for SIGTERM. */
  readonly untilKill: (ready?: string) => readonly string[];
  readonly exits: (code: number) => readonly string[];
}

export interface ComplianceTarget {
  readonly runtime: CriRuntime;
  /** An image that is there. With 'programs' it has busybox. */
  readonly image: string;
  /** An image that is present, unused, and may be removed. */
  readonly removableImage?: string;
  /** A directory that the runtime can reach, for log files and mounts. */
  readonly directory: string;
  /** The path of busybox inside containers: `/bin/busybox` by default. */
  readonly busybox?: string;
  readonly programs?: Programs;
  close(): Promise<void>;
}

/** One case: it cleans up what it made, also when it fails. */
export interface ComplianceCase {
  readonly title: string;
  readonly needs: readonly Feature[];
  readonly run: (context: CaseContext) => Promise<void>;
}

/** The target with the defaults filled in. */
export interface CaseContext {
  readonly runtime: CriRuntime;
  readonly image: string;
  readonly removableImage: string | undefined;
  readonly directory: string;
  readonly busybox: string;
  readonly programs: Programs;
  readonly lacks: ReadonlySet<Feature>;
}

export function completeTarget(target: ComplianceTarget, lacks: readonly Feature[]): CaseContext {
  const { runtime, image, directory, removableImage, busybox = '/bin/busybox' } = target;
  const programs = target.programs ?? busyboxPrograms(busybox);
  return { runtime, image, directory, removableImage, busybox, programs, lacks: new Set(lacks) };
}

/** A shell waits for children only between signals: hence the sleep in the background. */
function busyboxPrograms(busybox: string): Programs {
  const shell = (script: string): readonly string[] => [busybox, 'sh', '-c', script];
  return {
    untilTerm: (ready = '/dev/null') =>
      shell(`trap 'exit 7' TERM; : > ${ready}; ${busybox} sleep 1000 & wait`),
    untilKill: (ready = '/dev/null') =>
      shell(`trap '' TERM; : > ${ready}; while :; do ${busybox} sleep 1000; done`),
    exits: (code) => shell(`exit ${code}`),
  };
}
