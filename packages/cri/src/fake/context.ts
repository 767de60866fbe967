import type {
  ContainerConfig,
  ContainerEventResponse,
  ContainerEventType,
  PodSandboxConfig,
} from '../messages.js';
import { type FakeClock, toNanoseconds } from './clock.js';
import type { Broadcast } from './events.js';
import type { FakeExecResult, FakeProgram } from './programs.js';
import { containersOf, type FakeState, sandboxStatus } from './state.js';

/** Everything that the parts of the fake share. */
export interface FakeContext {
  readonly state: FakeState;
  readonly clock: FakeClock;
  readonly events: Broadcast<ContainerEventResponse>;
  readonly programOf: (config: ContainerConfig) => FakeProgram;
  readonly addressesOf: (config: PodSandboxConfig) => readonly string[];
  readonly exec: (
    containerId: string,
    argv: readonly string[],
    signal: AbortSignal,
  ) => FakeExecResult | Promise<FakeExecResult>;
}

export const nanosecondsNow = ({ clock }: FakeContext): bigint => toNanoseconds(clock.now());

/** Emits an event for a container, or for a sandbox by its own id. */
export function announce(
  context: FakeContext,
  sandboxId: string,
  containerId: string,
  type: ContainerEventType,
): void {
  const sandbox = context.state.sandboxes.get(sandboxId);
  if (!context.events.hasListeners()) return;
  context.events.publish({
    containerId,
    containerEventType: type,
    createdAt: nanosecondsNow(context),
    podSandboxStatus: sandbox && sandboxStatus(sandbox),
    containersStatuses: containersOf(context.state, sandboxId).map(({ status }) => status),
  });
}
