import type { ContainerConfig, ContainerEventType, PodSandboxConfig } from '../messages.js';
import type { Clock } from '@podwire/platform';
import type { EventBroadcast } from '../events.js';
import { nowNanoseconds } from '../node-facts.js';
import type { FakeExecResult, FakeProgram } from './programs.js';
import { containersOf, type FakeState, sandboxStatus } from './state.js';

/** Tests pass their own. */
export type FakeClock = Pick<Clock, 'now' | 'sleep'>;

/** Everything that the parts of the fake share. */
export interface FakeContext {
  readonly state: FakeState;
  readonly clock: FakeClock;
  readonly events: EventBroadcast;
  readonly programOf: (config: ContainerConfig) => FakeProgram;
  readonly addressesOf: (config: PodSandboxConfig) => readonly string[];
  readonly exec: (
    containerId: string,
    argv: readonly string[],
    signal: AbortSignal,
  ) => FakeExecResult | Promise<FakeExecResult>;
}

/** Emits an event for a container, or for a sandbox by its own id. */
export function announce(
  context: FakeContext,
  sandboxId: string,
  containerId: string,
  type: ContainerEventType,
): void {
  const sandbox = context.state.sandboxes.get(sandboxId);
  if (!context.events.hasListeners) return;
  context.events.emit({
    containerId,
    containerEventType: type,
    createdAt: nowNanoseconds(context.clock),
    podSandboxStatus: sandbox && sandboxStatus(sandbox),
    containersStatuses: containersOf(context.state, sandboxId).map(({ status }) => status),
  });
}
