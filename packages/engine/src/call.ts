/** Context, sessions and observations of one call of the engine. */
import { PodwireError } from '@podwire/errors';
import { type FaultPoints, groupBy, hasCode } from '@podwire/platform';
import type {
  Backend,
  Failure,
  Observation,
  Observed,
  Owned,
  Resource,
  SessionContext,
  Snapshot,
} from './contract.js';
import type { DeferredQueue } from './deferred.js';
import type { ResourceSpan, Tracer } from './engine.js';
import type { KindRegistry } from './registry.js';
import { CallGuard, type CallLimits, GuardedSession } from './session-calls.js';

export interface EngineContext {
  readonly backends: ReadonlyMap<string, Backend>;
  readonly kinds: KindRegistry;
  readonly queues: ReadonlyMap<string, DeferredQueue>;
  readonly faults: FaultPoints;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Every resource travels alone, so that a fault test can die between any two. */
  readonly single: boolean;
  /** Of this call of the engine: see {@link forCall}. */
  readonly limits: CallLimits;
}

/** The context of a new call: every backend is asked again. */
export function forCall(context: EngineContext): EngineContext {
  return { ...context, limits: { ...context.limits, silent: new Map() } };
}

/** The sessions of one call: each backend is opened when something needs it, and all are closed at the end. */
export class Sessions {
  readonly #context: EngineContext;
  readonly #owned: Owned;
  readonly #guard: CallGuard;
  readonly #sessions = new Map<string, GuardedSession>();

  constructor(context: EngineContext, owned: Owned, signal: AbortSignal) {
    this.#context = context;
    this.#owned = owned;
    this.#guard = new CallGuard(context.limits, signal);
  }

  of(name: string): GuardedSession {
    const known = this.#sessions.get(name);
    if (known !== undefined) return known;
    const { backends, kinds, queues, faults } = this.#context;
    const defer: SessionContext['defer'] = (count) => queues.get(name)?.add(count) ?? 0;
    const opened = backends.get(name)!.open(this.#owned, { faults, defer });
    const waitsFor = (resource: Resource): number => kinds.of(resource).waits?.(resource) ?? 0;
    const session = new GuardedSession(name, opened, this.#guard, waitsFor);
    this.#sessions.set(name, session);
    return session;
  }

  close(): void {
    for (const session of this.#sessions.values()) session.close();
    this.#guard.close();
  }
}

export async function withSessions<T>(
  context: EngineContext,
  owned: Owned,
  signal: AbortSignal,
  work: (sessions: Sessions) => Promise<T>,
): Promise<T> {
  const sessions = new Sessions(context, owned, signal);
  try {
    return await work(sessions);
  } finally {
    sessions.close();
  }
}

/** State that many owners share, by backend. */
export type Snapshots = ReadonlyMap<string, Snapshot>;

export function takeSnapshots({ backends }: EngineContext): Snapshots {
  const taken = [...backends.values()].flatMap((backend) => {
    const snapshot = backend.snapshot?.();
    return snapshot === undefined ? [] : [[backend.name, snapshot] as const];
  });
  return new Map(taken);
}

/** Reads the large parts of the snapshots. Where a backend fails, the look at its resources says so. */
export async function readAhead(
  { limits }: EngineContext,
  snapshots: Snapshots,
  signal: AbortSignal,
): Promise<void> {
  const guard = new CallGuard(limits, signal);
  try {
    for (const [name, snapshot] of snapshots)
      await guard.run(name, async (call) => snapshot.readAhead?.(call)).catch(throwIfGivenUp);
  } finally {
    guard.close();
  }
}

function throwIfGivenUp(error: unknown): void {
  if (hasCode(error, 'DEADLINE_EXCEEDED')) throw error;
}

/** The state of resources, and those that could not be looked at because their backend failed or was silent. */
export interface Observations {
  readonly observed: Observed;
  readonly unseen: readonly Failure[];
}

/** Looks at the resources, each through its backend. @throws PodwireError DEADLINE_EXCEEDED when the caller gives up */
export async function observe(
  { kinds }: EngineContext,
  sessions: Sessions,
  resources: readonly Resource[],
  snapshots?: Snapshots,
): Promise<Observations> {
  const byBackend = groupBy(resources, (resource) => kinds.of(resource).backend);
  const all = new Map<Resource, Observation>();
  const unseen: Failure[] = [];
  for (const [name, group] of byBackend) {
    const { observed, error } = await observeIn(sessions, name, group, snapshots?.get(name));
    for (const resource of group) {
      const one = observed.get(resource);
      if (one === undefined) unseen.push({ resource, error });
      else if ('unseen' in one) unseen.push({ resource, error: one.unseen });
      else all.set(resource, one);
    }
  }
  return { observed: all, unseen };
}

async function observeIn(
  sessions: Sessions,
  name: string,
  resources: readonly Resource[],
  snapshot: Snapshot | undefined,
): Promise<{ readonly observed: Observed; readonly error: unknown }> {
  try {
    const observed = await sessions.of(name).observe(resources, snapshot);
    return { observed, error: new PodwireError('BACKEND_SILENT', `${name} has answered half of a question`) };
  } catch (error) {
    throwIfGivenUp(error);
    return { observed: new Map(), error };
  }
}

/** Measures batches one after the other and reports the time of each resource to the tracer. */
export interface BatchTimer {
  lap(batch: number, resources: readonly Resource[]): void;
}

export function startTimer(
  now: () => number,
  action: ResourceSpan['action'],
  trace: Tracer | undefined,
): BatchTimer {
  if (trace === undefined) return { lap: () => undefined };
  const origin = now();
  let last = origin;
  return {
    lap(batch, resources) {
      const time = now();
      const duration = (time - last) / Math.max(1, resources.length);
      for (const [index, resource] of resources.entries()) {
        trace({ resource, action, start: last - origin + index * duration, duration, batch });
      }
      last = time;
    },
  };
}
