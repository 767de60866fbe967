import { compact } from '@podwire/platform';
import type { ProbeKind } from '../parts.js';
import type { Container, Probe, RestartPolicy } from '@podwire/pod-spec';
import type { ObservedContainer } from './observed.js';
import { hashContainer } from './spec-hash.js';

export type ContainerRole = 'init' | 'sidecar' | 'normal';

export type KillReason =
  'SpecChanged' | 'LivenessFailed' | 'StartupFailed' | 'Unknown' | 'Superseded' | 'Unwanted' | 'Asked';

export interface KillAction {
  readonly container: ObservedContainer;
  readonly reason: KillReason;
  readonly message: string;
  /** Seconds; the probe's own, where it has one. */
  readonly graceSeconds?: number;
}

export interface StartAction {
  readonly container: Container;
  readonly role: ContainerRole;
  readonly attempt: number;
}

/** Facts beside the observed state. */
export interface ContainerFacts {
  /** Latest result of a probe on the running instance; undefined before the first. */
  readonly probeResult: (containerName: string, kind: ProbeKind) => boolean | undefined;
  /** Containers that were ended to be started again, and are not started yet: how they ended says nothing. */
  readonly interrupted?: ReadonlySet<string>;
  /** Ids of running containers that people want to be started anew. */
  readonly restartAsked?: ReadonlySet<string>;
}

/** `keep`: it runs as it should. `rest`: it has ended and stays so. */
export interface ContainerPlan {
  readonly next: 'keep' | 'start' | 'rest';
  readonly kill?: KillAction;
}

/** Plans one normal container or sidecar. `sandboxId` is the sandbox that the pod goes on with. */
export function planContainer(
  container: Container,
  newest: ObservedContainer | undefined,
  policy: RestartPolicy,
  sandboxId: string,
  facts: ContainerFacts,
): ContainerPlan {
  if (newest === undefined || newest.state === 'created') return { next: 'start' };
  if (newest.state === 'exited') {
    const again = restarts(policy, newest.exitCode) || facts.interrupted?.has(container.name) === true;
    return { next: again ? 'start' : 'rest' };
  }
  const kill = reasonToKill(container, newest, sandboxId, facts);
  if (kill === undefined) return { next: 'keep' };
  return { next: restartsAfter(kill.reason, policy) ? 'start' : 'rest', kill };
}

/** These are no end of the container: it starts again whatever the policy says. */
const noEnd: readonly KillReason[] = ['SpecChanged', 'Unknown', 'Asked'];

function restartsAfter(reason: KillReason, policy: RestartPolicy): boolean {
  return noEnd.includes(reason) || policy !== 'Never';
}

export function restarts(policy: RestartPolicy, exitCode: number): boolean {
  return policy === 'Always' || (policy === 'OnFailure' && exitCode !== 0);
}

function reasonToKill(
  container: Container,
  instance: ObservedContainer,
  sandboxId: string,
  facts: ContainerFacts,
): KillAction | undefined {
  if (instance.state === 'unknown') {
    return kill(instance, 'Unknown', 'the runtime does not know whether it runs');
  }
  if (instance.sandboxId !== sandboxId) return kill(instance, 'Superseded', 'it runs in an earlier sandbox');
  if (instance.specHash !== undefined && instance.specHash !== hashContainer(container)) {
    return kill(instance, 'SpecChanged', `Container ${container.name} definition changed, will be restarted`);
  }
  if (facts.restartAsked?.has(instance.id) === true) {
    return kill(instance, 'Asked', `Container ${container.name} will be restarted, as asked for`);
  }
  return failedProbe(container, instance, facts);
}

function failedProbe(
  container: Container,
  instance: ObservedContainer,
  facts: ContainerFacts,
): KillAction | undefined {
  if (container.startupProbe !== undefined && facts.probeResult(container.name, 'startup') === false) {
    const message = `Container ${container.name} failed startup probe`;
    return kill(instance, 'StartupFailed', message, container.startupProbe);
  }
  if (container.livenessProbe !== undefined && facts.probeResult(container.name, 'liveness') === false) {
    const message = `Container ${container.name} failed liveness probe`;
    return kill(instance, 'LivenessFailed', message, container.livenessProbe);
  }
  return undefined;
}

export function kill(
  container: ObservedContainer,
  reason: KillReason,
  message: string,
  probe?: Probe,
): KillAction {
  const seconds = probe?.terminationGracePeriodSeconds;
  return { container, reason, message, ...compact({ graceSeconds: seconds }) };
}

/** It runs, and its startup probe, if it has one, has succeeded. */
export function hasStarted(
  container: Container,
  instance: ObservedContainer | undefined,
  facts: ContainerFacts,
): boolean {
  if (instance?.state !== 'running') return false;
  return container.startupProbe === undefined || facts.probeResult(container.name, 'startup') === true;
}

export function roleOf(container: Container, isInit: boolean): ContainerRole {
  if (!isInit) return 'normal';
  return container.restartPolicy === 'Always' ? 'sidecar' : 'init';
}

/** One that was created and never started counts as not there: it is removed, and its number used again. */
export function startOf(
  container: Container,
  role: ContainerRole,
  newest: ObservedContainer | undefined,
): StartAction {
  if (newest === undefined) return { container, role, attempt: 0 };
  return { container, role, attempt: newest.state === 'created' ? newest.attempt : newest.attempt + 1 };
}
