/** The observed state of one pod, reduced to what decisions need. Times are milliseconds since the epoch, 0 when unknown. */

export interface ObservedSandbox {
  readonly id: string;
  /** Counts the sandboxes of one pod, from 0. */
  readonly attempt: number;
  readonly ready: boolean;
  readonly createdAt: number;
  readonly hostNetwork: boolean;
  /** Of the pod's network, first one first; empty on the node's network. */
  readonly addresses: readonly string[];
}

export type ObservedState = 'created' | 'running' | 'exited' | 'unknown';

export interface ObservedContainer {
  readonly id: string;
  readonly name: string;
  readonly sandboxId: string;
  /** Counts the instances of one container, from 0: its restart count. */
  readonly attempt: number;
  readonly state: ObservedState;
  readonly createdAt: number;
  readonly startedAt: number;
  readonly finishedAt: number;
  readonly exitCode: number;
  readonly reason: string;
  readonly message: string;
  readonly image: string;
  readonly imageRef: string;
  readonly logPath: string;
  /** Of the specification it was created from; absent when another program created it. */
  readonly specHash?: string;
}

export interface ObservedPod {
  /** Newest first. */
  readonly sandboxes: readonly ObservedSandbox[];
  /** Of all sandboxes; newest first. */
  readonly containers: readonly ObservedContainer[];
}

export const nothingObserved: ObservedPod = { sandboxes: [], containers: [] };

/** For `sort`: the last attempt comes first, since clocks are set back and attempts never are; time decides between equals. */
export function newestFirst(
  one: { readonly createdAt: number; readonly attempt: number },
  other: { readonly createdAt: number; readonly attempt: number },
): number {
  return other.attempt - one.attempt || other.createdAt - one.createdAt;
}

export function newestInstance(observed: ObservedPod, name: string): ObservedContainer | undefined {
  return observed.containers.find((container) => container.name === name);
}

export function newestInSandbox(
  observed: ObservedPod,
  name: string,
  sandboxId: string,
): ObservedContainer | undefined {
  return observed.containers.find(
    (container) => container.name === name && container.sandboxId === sandboxId,
  );
}

/** Something of the pod may be executing. A runtime that has lost track of a container counts as "may". */
export function isAlive(container: ObservedContainer): boolean {
  return container.state === 'running' || container.state === 'unknown';
}

export function hasExited(container: ObservedContainer | undefined, success: boolean): boolean {
  return container?.state === 'exited' && (container.exitCode === 0) === success;
}
