/**
 * What every backend must do, as cases for any test runner: fake and real backends run the same ones. A case throws an
 * AssertionError where the backend fails.
 */
import assert from 'node:assert/strict';
import type { FaultPoints } from '@podwire/platform';
import type { Backend, Owned, Resource } from '../contract.js';
import { createEngine, type EngineOptions } from '../create-engine.js';
import type { Engine } from '../engine.js';

/** One system under test. A case has it for itself. */
export interface BackendSubject {
  /** Opens the backends anew, as after a restart. */
  readonly backends: () => Backend[];
  /** What has to be there before {@link owned} can be applied, and stays. */
  readonly base: Owned;
  /** Has every kind of the backend.  */
  readonly owned: Owned;
  /** Everything that can be seen of the system, foreign things too (or a promise of it); equal when nothing has changed. */
  picture(): unknown;
  /** Makes the creation of a resource of {@link owned} fail, not the first one, until the returned function is called. */
  break(): () => void;
  /** Changes or takes away something of {@link owned}, as another program would. */
  damage(): void | Promise<void>;
  /** Adds something like {@link owned} without our mark. */
  addForeign(): void | Promise<void>;
  /** Kinds that the lists do not have: those of other places, or of other owners. */
  readonly absentKinds?: readonly string[];
  close(): void | Promise<void>;
}

export interface ComplianceCase {
  readonly name: string;
  readonly run: (subject: BackendSubject) => Promise<void>;
}

const call = () => ({ signal: AbortSignal.timeout(60_000) });

/** Runs with an engine of its own, which is closed afterwards without closing what others use. */
async function withEngine<T>(
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

async function prepare({ backends, base }: BackendSubject): Promise<void> {
  await withEngine({ backends } as BackendSubject, async (engine) => engine.apply(base, call()));
}

/** What there is once deferred deletions are through. */
async function settled(subject: BackendSubject): Promise<unknown> {
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
async function pointsOf(
  subject: BackendSubject,
  work: (engine: Engine) => Promise<unknown>,
): Promise<string[]> {
  const recorder = crashAt(undefined);
  await withEngine(subject, work, { faults: recorder, single: true });
  return recorder.seen;
}

async function crash(
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

const failed = (changes: Awaited<ReturnType<Engine['reconcile']>>) =>
  changes.filter(({ action }) => action === 'failed');

const kindsOf = (resources: readonly Resource[]): Set<string> => new Set(resources.map(({ kind }) => kind));

export const complianceCases: readonly ComplianceCase[] = [
  {
    name: 'what is applied is found in place, can be applied again, and is removed without a trace',
    run: async (subject) => {
      await prepare(subject);
      const before = await settled(subject);
      await withEngine(subject, async (engine) => {
        await engine.apply(subject.owned, call());
        assert.deepEqual(await engine.verify(subject.owned, call()), []);
        assert.notDeepEqual(await subject.picture(), before);
        await engine.apply(subject.owned, call());
        assert.deepEqual(await engine.verify(subject.owned, call()), []);
        await engine.remove(subject.owned, call());
        await engine.remove(subject.owned, call());
      });
      assert.deepEqual(await settled(subject), before);
    },
  },
  {
    name: 'a failure half way leaves nothing',
    run: async (subject) => {
      await prepare(subject);
      const before = await settled(subject);
      const restore = subject.break();
      await withEngine(subject, async (engine) => assert.rejects(engine.apply(subject.owned, call())));
      restore();
      assert.deepEqual(await settled(subject), before);
      await withEngine(subject, async (engine) => engine.apply(subject.owned, call()));
    },
  },
  {
    name: 'a crash at any point of apply is finished by removal, and by reconcile both ways',
    run: async (subject) => {
      await prepare(subject);
      const { base, owned } = subject;
      const before = await settled(subject);
      const points = await pointsOf(subject, async (engine) => engine.apply(owned, call()));
      assert.ok(points.length > owned.resources.length, `only ${points.length} points`);
      await withEngine(subject, async (engine) => engine.remove(owned, call()));
      for (const point of points) {
        const apply = async (engine: Engine): Promise<void> => engine.apply(owned, call());
        await crash(subject, point, apply);
        await withEngine(subject, async (engine) => engine.remove(owned, call()));
        assert.deepEqual(await settled(subject), before, `removed after ${point}`);
        await crash(subject, point, apply);
        await withEngine(subject, async (engine) => {
          assert.deepEqual(failed(await engine.reconcile([base, owned], call())), [], point);
          assert.deepEqual(await engine.verify(owned, call()), [], point);
          assert.deepEqual(await engine.reconcile([base, owned], call()), [], point);
        });
        await withEngine(subject, async (engine) => engine.reconcile([base], call()));
        assert.deepEqual(await settled(subject), before, `pruned after ${point}`);
      }
    },
  },
  {
    name: 'a crash at any point of removal can be finished',
    run: async (subject) => {
      await prepare(subject);
      const before = await settled(subject);
      const remove = async (engine: Engine): Promise<void> => {
        await engine.remove(subject.owned, call());
        await engine.settle();
      };
      await withEngine(subject, async (engine) => engine.apply(subject.owned, call()));
      const points = await pointsOf(subject, remove);
      for (const point of points) {
        await withEngine(subject, async (engine) => engine.apply(subject.owned, call()));
        await crash(subject, point, remove);
        await withEngine(subject, remove);
        assert.deepEqual(await settled(subject), before, point);
      }
    },
  },
  {
    name: 'what another program has changed is found and repaired, and then there is nothing to do',
    run: async (subject) => {
      const { base, owned } = subject;
      await prepare(subject);
      await withEngine(subject, async (engine) => {
        await engine.apply(owned, call());
        await subject.damage();
        const drifts = await engine.verify(owned, call());
        assert.ok(drifts.length > 0, 'nothing was found');
        const changes = await engine.reconcile([base, owned], call());
        assert.deepEqual(failed(changes), []);
        assert.ok(changes.some(({ action }) => action === 'repaired'));
        assert.deepEqual(await engine.verify(owned, call()), []);
        assert.deepEqual(await engine.reconcile([base, owned], call()), []);
      });
    },
  },
  {
    name: 'what has our mark and no owner is pruned, and foreign things are not touched by anything',
    run: async (subject) => {
      const { base, owned } = subject;
      await prepare(subject);
      await subject.addForeign();
      const before = await settled(subject);
      await withEngine(subject, async (engine) => engine.apply(owned, call()));
      await withEngine(subject, async (engine) => {
        const kept = await engine.reconcile([base], { ...call(), keepLeftovers: true });
        assert.deepEqual(kept, []);
        const changes = await engine.reconcile([base], call());
        assert.ok(changes.length > 0 && changes.every(({ action }) => action === 'removed'));
      });
      assert.deepEqual(await settled(subject), before);
      await withEngine(subject, async (engine) => {
        await engine.apply(owned, call());
        await engine.remove(owned, call());
      });
      assert.deepEqual(await settled(subject), before);
    },
  },
  {
    name: 'what is applied or removed while a reconcile is under way is neither pruned nor reported',
    run: async (subject) => {
      const { base, owned } = subject;
      await prepare(subject);
      const before = await settled(subject);
      await withEngine(subject, async (engine) => {
        let wanted = [base];
        const applied = engine.startReconcile(() => wanted);
        assert.deepEqual(await applied.repair([base], call()), []);
        wanted = [base, owned];
        await engine.apply(owned, call());
        assert.deepEqual(await applied.finish(call()), []);
        assert.deepEqual(await engine.verify(owned, call()), []);
        const removed = engine.startReconcile(() => wanted);
        assert.deepEqual(await removed.repair([base, owned], call()), []);
        await engine.remove(owned, call());
        wanted = [base];
        assert.deepEqual(await removed.finish(call()), []);
      });
      assert.deepEqual(await settled(subject), before);
    },
  },
  {
    name: 'what was applied after a reconcile began is not taken for drifted',
    run: async (subject) => {
      const { base, owned } = subject;
      await prepare(subject);
      await withEngine(subject, async (engine) => {
        const round = engine.startReconcile(() => [base, owned]);
        assert.deepEqual(await round.repair([base], call()), []);
        await engine.apply(owned, call());
        assert.deepEqual(await round.repair([owned], call()), []);
        assert.deepEqual(await round.finish(call()), []);
      });
    },
  },
  {
    name: 'every kind of the backends is in the list, has a key of its own and can be described',
    run: async (subject) => {
      await withEngine(subject, async ({ kinds }) => {
        const resources = [...subject.base.resources, ...subject.owned.resources];
        const keys = resources.map((resource) => kinds.keyOf(resource));
        assert.equal(new Set(keys).size, keys.length);
        for (const resource of resources) assert.match(kinds.describe(resource), /\S/);
        const all = subject.backends();
        const named = all.flatMap((backend) => backend.kinds.map(({ kind }) => kind));
        for (const backend of all) backend.close();
        const left = named.filter((kind) => !kindsOf(resources).has(kind));
        assert.deepEqual(left.sort(), [...(subject.absentKinds ?? [])].sort(), 'kinds without a resource');
        return Promise.resolve();
      });
    },
  },
];
