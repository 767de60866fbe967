import { compact } from '@podwire/platform';
import type { Container, Pod } from '@podwire/pod-spec';
import {
  type ContainerFacts,
  kill,
  type KillAction,
  planContainer,
  roleOf,
  type StartAction,
  startOf,
} from './container-plan.js';
import { planInit } from './init-plan.js';
import { hasExited, isAlive, newestInstance, type ObservedPod } from './observed.js';
import { evaluateSandbox, type SandboxChange } from './sandbox-change.js';

/** The actions for one pod, in this order: kill the pod, kill containers, create a sandbox, start containers. */
export interface PodActions {
  /** Stop all its containers and every sandbox; what is in `kill` is part of it then, so that list is empty. */
  readonly killPod: boolean;
  readonly createSandbox: boolean;
  /** Of the sandbox to be created. */
  readonly attempt: number;
  /** The sandbox to go on with, when none is created. */
  readonly sandboxId?: string;
  readonly kill: readonly KillAction[];
  readonly start: readonly StartAction[];
  /** Why the sandbox is recreated. */
  readonly why?: string;
  /** The pod can never get where it wants to be: it has failed, and why. */
  readonly hopeless?: string;
}

/** Specification §1.6 "compute actions". Back-off is the executor's affair. */
export function computeActions(pod: Pod, observed: ObservedPod, facts: ContainerFacts): PodActions {
  const change = evaluateSandbox(pod, observed);
  if (pod.metadata.deletionTimestamp !== undefined) return killOnly(change);
  if (change.sandboxId === undefined) return recreate(pod, observed, change, facts);
  return goOn(pod, observed, change.sandboxId, change, facts);
}

function killOnly(change: SandboxChange): PodActions {
  return { killPod: true, createSandbox: false, attempt: change.attempt, kill: [], start: [] };
}

function recreate(pod: Pod, observed: ObservedPod, change: SandboxChange, facts: ContainerFacts): PodActions {
  if (pod.spec.restartPolicy === 'Never' && change.attempt !== 0 && observed.containers.length > 0) {
    if (hasSucceeded(pod, observed)) return killOnly(change);
    return { ...killOnly(change), hopeless: `restartPolicy is Never, and ${change.why ?? 'it was lost'}` };
  }
  const normal = pod.spec.containers.filter((container) => mustRunAgain(pod, observed, container, facts));
  if (normal.length === 0 && wasInitialised(pod, observed)) return killOnly(change);
  return {
    killPod: observed.sandboxes.length > 0 || observed.containers.some(isAlive),
    createSandbox: true,
    attempt: change.attempt,
    kill: [],
    start: firstStarts(pod, observed, normal),
    ...compact({ why: change.why }),
  };
}

/** It has done all it had to do: its sandbox was stopped because of that. */
function hasSucceeded(pod: Pod, observed: ObservedPod): boolean {
  return pod.spec.containers.every(({ name }) => hasExited(newestInstance(observed, name), true));
}

/** With init containers only the first one is begun: the rest follows when it is over. */
function firstStarts(pod: Pod, observed: ObservedPod, normal: readonly Container[]): StartAction[] {
  const [init] = pod.spec.initContainers;
  if (init === undefined) {
    return normal.map((container) => startOf(container, 'normal', newestInstance(observed, container.name)));
  }
  return [startOf(init, roleOf(init, true), newestInstance(observed, init.name))];
}

function mustRunAgain(
  pod: Pod,
  observed: ObservedPod,
  container: Container,
  { interrupted }: ContainerFacts,
): boolean {
  if (pod.spec.restartPolicy !== 'OnFailure' || interrupted?.has(container.name) === true) return true;
  return !hasExited(newestInstance(observed, container.name), true);
}

/** True if all init containers were over in the latest sandbox of the pod. */
function wasInitialised(pod: Pod, observed: ObservedPod): boolean {
  const last = observed.sandboxes[0];
  const facts: ContainerFacts = { probeResult: () => undefined };
  if (last === undefined) return pod.spec.initContainers.length === 0;
  return planInit(pod, observed, last.id, facts).done;
}

function goOn(
  pod: Pod,
  observed: ObservedPod,
  sandboxId: string,
  change: SandboxChange,
  facts: ContainerFacts,
): PodActions {
  const init = planInit(pod, observed, sandboxId, facts);
  if (init.failed)
    return { ...killOnly(change), hopeless: 'an init container failed, and restartPolicy is Never' };
  const normal = init.done ? planNormal(pod, observed, sandboxId, facts) : waiting;
  if (init.done && normal.kept === 0 && normal.start.length === 0) return killOnly(change);
  const kills = [...init.kill, ...normal.kill];
  return {
    killPod: false,
    createSandbox: false,
    attempt: change.attempt,
    sandboxId,
    kill: [...kills, ...killOthers(pod, observed, sandboxId, kills)],
    start: [...init.start, ...normal.start],
  };
}

interface NormalPlan {
  readonly kept: number;
  readonly kill: readonly KillAction[];
  readonly start: readonly StartAction[];
}

const waiting: NormalPlan = { kept: 0, kill: [], start: [] };

function planNormal(pod: Pod, observed: ObservedPod, sandboxId: string, facts: ContainerFacts): NormalPlan {
  const plans = pod.spec.containers.map((container) => {
    const newest = newestInstance(observed, container.name);
    const plan = planContainer(container, newest, pod.spec.restartPolicy, sandboxId, facts);
    return { ...plan, start: startOf(container, 'normal', newest) };
  });
  return {
    kept: plans.filter((plan) => plan.next === 'keep').length,
    kill: plans.flatMap((plan) => plan.kill ?? []),
    start: plans.flatMap((plan) => (plan.next === 'start' ? [plan.start] : [])),
  };
}

/** Containers that run in an earlier sandbox or beside a newer instance, and containers that the pod does not have (any more). */
function killOthers(
  pod: Pod,
  observed: ObservedPod,
  sandboxId: string,
  kills: readonly KillAction[],
): KillAction[] {
  const names = new Set([...pod.spec.initContainers, ...pod.spec.containers].map(({ name }) => name));
  const dying = new Set(kills.map(({ container }) => container.id));
  return observed.containers
    .filter((container) => isAlive(container) && !dying.has(container.id))
    .flatMap((container) => {
      if (!names.has(container.name)) return [kill(container, 'Unwanted', 'the pod has no such container')];
      if (container.sandboxId !== sandboxId)
        return [kill(container, 'Superseded', 'it runs in an earlier sandbox')];
      if (newestInstance(observed, container.name) === container) return [];
      return [kill(container, 'Superseded', 'a newer instance of it exists')];
    });
}
