/** What every call of the engine works with. */
import { type FaultPoints, groupBy } from '@podwire/platform';
import type {
  Backend,
  Observation,
  Observed,
  Owned,
  Resource,
  Session,
  SessionContext,
  Snapshot,
} from './contract.js';
import type { DeferredQueue } from './deferred.js';
import type { ResourceSpan, Tracer } from './engine.js';
import type { KindRegistry } from './registry.js';

export interface EngineContext {
  readonly backends: ReadonlyMap<string, Backend>;
  readonly kinds: KindRegistry;
  readonly queues: ReadonlyMap<string, DeferredQueue>;
  readonly faults: FaultPoints;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Every resource travels alone, so that a fault test can die between any two. */
  readonly single: boolean;
}

/** The sessions of one call: each backend is opened when something needs it, and all are closed at the end. */
export class Sessions {
  readonly #context: EngineContext;
  readonly #owned: Owned;
  readonly #sessions = new Map<string, Session>();

  constructor(context: EngineContext, owned: Owned) {
    this.#context = context;
    this.#owned = owned;
  }

  of(name: string): Session {
    const known = this.#sessions.get(name);
    if (known !== undefined) return known;
    const { backends, queues, faults } = this.#context;
    const defer: SessionContext['defer'] = (count) => queues.get(name)?.add(count) ?? 0;
    const session = backends.get(name)!.open(this.#owned, { faults, defer });
    this.#sessions.set(name, session);
    return session;
  }

  close(): void {
    for (const session of this.#sessions.values()) session.close();
  }
}

export async function withSessions<T>(
  context: EngineContext,
  owned: Owned,
  work: (sessions: Sessions) => Promise<T>,
): Promise<T> {
  const sessions = new Sessions(context, owned);
  try {
    return await work(sessions);
  } finally {
    sessions.close();
  }
}

/** What many owners share, by backend. */
export type Snapshots = ReadonlyMap<string, Snapshot>;

export function takeSnapshots({ backends }: EngineContext): Snapshots {
  const taken = [...backends.values()].flatMap((backend) => {
    const snapshot = backend.snapshot?.();
    return snapshot === undefined ? [] : [[backend.name, snapshot] as const];
  });
  return new Map(taken);
}

/** Looks at the resources, each through its backend. */
export async function observe(
  { kinds }: EngineContext,
  sessions: Sessions,
  resources: readonly Resource[],
  snapshots?: Snapshots,
): Promise<Observed> {
  const byBackend = groupBy(resources, (resource) => kinds.of(resource).backend);
  const observed = new Map<Resource, Observation>();
  for (const [name, group] of byBackend) {
    for (const [resource, one] of await sessions.of(name).observe(group, snapshots?.get(name)))
      observed.set(resource, one);
  }
  return observed;
}

/** Measures batches one after the other and tells the tracer what each resource cost. */
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
