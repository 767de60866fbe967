/** A system under test, and what the cases do with it. */
import assert from 'node:assert/strict';
import type { FaultPoints } from '@podwire/platform';
import type { Backend, Owned, Resource } from '../contract.js';
import { createEngine, type EngineOptions } from '../create-engine.js';
import type { Engine } from '../engine.js';

/** One system under test. A case has it for itself. */
export interface BackendSubject {
  /** Opens the backends anew, as after a restart. */
  readonly backends: () => Backend[];
  /** Resources that have to be there before {@link owned} can be applied, and stay. */
  readonly base: Owned;
  /** Has every kind of the backend.  */
  readonly owned: Owned;
  /** Everything that can be seen of the system, foreign things too (or a promise of it); equal when nothing has changed. */
  picture(): unknown;
  /** Makes the creation of a resource of {@link owned} fail, not the first one, until the returned function is called. */
  break(): Restore | Promise<Restore>;
  /** The resource of {@link owned} that {@link break} keeps from being made. */
  readonly broken: Resource;
  /** Changes or takes away something of {@link owned}, as another program would. */
  damage(): void | Promise<void>;
  /** Adds something like {@link owned} without our mark. */
  addForeign(): void | Promise<void>;
  /** Resources to exchange in one call, on top of {@link base}; absent where the backend has no transactions. */
  readonly exchange?: ExchangeLists;
  /** Other content for resources of {@link owned}: each has the key of one of them. */
  readonly replacement: readonly Resource[];
  /** So many small resources, on top of {@link base}; absent where there is nothing that comes in thousands. */
  readonly many?: (count: number) => readonly Resource[];
  close(): void | Promise<void>;
}

export type Restore = () => void | Promise<void>;

/** Lists in order of creation. */
export interface ExchangeLists {
  readonly first: readonly Resource[];
  /** Has keys of {@link first}, some with other content, and keys of its own. */
  readonly second: readonly Resource[];
  /** Begins with what could be made, and ends with what the backend refuses. */
  readonly refused: readonly Resource[];
}

export interface ComplianceCase {
  readonly name: string;
  readonly run: (subject: BackendSubject) => Promise<void>;
}

export const call = () => ({ signal: AbortSignal.timeout(60_000) });

/** Runs with an engine of its own, which is closed afterwards without closing what others use. */
export async function withEngine<T>(
  subject: BackendSubject,
  work: (engine: Engine) => Promise<T>,
  options: Partial<EngineOptions> = {},
): Promise<T> {
  const engine = createEngine({ backends: subject.backends(), ...options });
  try {
    return await work(engine);
  } finally {
    await engine.close().catch(() => undefined);
  }
}

export async function prepare({ backends, base }: BackendSubject): Promise<void> {
  await withEngine({ backends } as BackendSubject, async (engine) => engine.apply(base, call()));
}

/** The state of the system once deferred deletions are through. */
export async function settled(subject: BackendSubject): Promise<unknown> {
  await withEngine(subject, async (engine) => engine.settle());
  return await subject.picture();
}

class Crash extends Error {}

/**
 * Stands for `kill -9`: from the chosen point on nothing happens any more. A point that is reached again is another one:
 * `repair:add:route (2)`.
 */
export function crashAt(target: string | undefined): FaultPoints & { readonly seen: string[] } {
  const seen: string[] = [];
  const times = new Map<string, number>();
  let crashed = false;
  return {
    seen,
    reach(point) {
      const time = (times.get(point) ?? 0) + 1;
      times.set(point, time);
      const name = time === 1 ? point : `${point} (${time})`;
      seen.push(name);
      crashed ||= name === target;
      if (crashed) throw new Crash(point);
    },
  };
}

/** The points of some work, which has to be undone afterwards. */
export async function pointsOf(
  subject: BackendSubject,
  work: (engine: Engine) => Promise<unknown>,
): Promise<string[]> {
  const recorder = crashAt(undefined);
  await withEngine(subject, work, { faults: recorder, single: true });
  return recorder.seen;
}

export async function crash(
  subject: BackendSubject,
  point: string,
  work: (engine: Engine) => Promise<unknown>,
): Promise<void> {
  const options = { faults: crashAt(point), single: true };
  const failure = await withEngine(subject, work, options).then(
    () => undefined,
    (error: unknown) => error,
  );
  assert.ok(failure !== undefined, `nothing happened at ${point}`);
}

export const failed = (changes: Awaited<ReturnType<Engine['reconcile']>>) =>
  changes.filter(({ action }) => action === 'failed');

export const kindsOf = (resources: readonly Resource[]): Set<string> =>
  new Set(resources.map(({ kind }) => kind));
