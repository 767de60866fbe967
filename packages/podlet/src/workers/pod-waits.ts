/** Waits of a pod while none of its calls is under way: parts of its trace, since most of the time goes there. */
import { type ContainerStatus, isSidecar, type Pod, type PodStatus } from '@podwire/pod-spec';
import type { PodTrace } from './pod-trace.js';

/** Pure: names as the trace has them. */
export function findWaits({ spec }: Pick<Pod, 'spec'>, status: PodStatus): string[] {
  const { initContainerStatuses, containerStatuses, conditions } = status;
  const all = [...initContainerStatuses, ...containerStatuses];
  const specs = [...spec.initContainers, ...spec.containers];
  const plain = new Set(spec.initContainers.filter((each) => !isSidecar(each)).map(({ name }) => name));
  const probed = new Map(specs.map(({ name, startupProbe }) => [name, startupProbe !== undefined]));
  const sandbox = conditions.find(({ type }) => type === 'PodReadyToStartContainers');
  return [
    ...(isProblem(sandbox?.reason) ? [`wait after ${sandbox!.reason}`] : []),
    ...all.flatMap((one) => {
      if (one.state.waiting !== undefined) return waitBefore(one.name, one.state.waiting.reason);
      if (one.state.running === undefined) return [];
      if (plain.has(one.name)) return [`init container ${one.name}`];
      return waitWhileRunning(one, probed.get(one.name) === true);
    }),
  ];
}

/** A sandbox that could not be made is tried again after a pause. */
const isProblem = (reason: string | undefined): boolean =>
  reason === 'FailedCreatePodSandBox' || reason === 'NetworkNotReady';

function waitBefore(name: string, reason: string): string[] {
  if (reason === 'CrashLoopBackOff') return [`back-off of container ${name}`];
  return /^(?:ErrImage|ImagePull|RegistryUnavailable)/.test(reason)
    ? [`back-off of the image of ${name}`]
    : [];
}

function waitWhileRunning({ name, started, ready }: ContainerStatus, hasStartupProbe: boolean): string[] {
  if (!started) return hasStartupProbe ? [`startup probe of ${name}`] : [];
  return ready ? [] : [`readiness probe of ${name}`];
}

/** Those that are under way, until the pod is ready for the first time. */
export class PodWaits {
  readonly #since = new Map<string, number>();

  /** @param now milliseconds since the epoch, the clock of the trace */
  note(names: readonly string[], trace: Pick<PodTrace, 'past' | 'isFinished'>, now: number): void {
    if (trace.isFinished()) return this.#since.clear();
    for (const [name, since] of this.#since) {
      if (names.includes(name)) continue;
      this.#since.delete(name);
      trace.past(name, since, now);
    }
    for (const name of names) if (!this.#since.has(name)) this.#since.set(name, now);
  }

  /** With the time when each began. */
  list(): readonly (readonly [name: string, since: number])[] {
    return [...this.#since];
  }
}
