/**
 * Duties of every backend, as cases for any test runner: fake and real backends run the same ones. A case throws an
 * AssertionError where the backend fails.
 */
import assert from 'node:assert/strict';
import type { Engine } from '../engine.js';
import { exchangeCases } from './exchange.js';
import { replacementCases } from './replacement.js';
import {
  call,
  type ComplianceCase,
  crash,
  failed,
  kindsOf,
  pointsOf,
  prepare,
  settled,
  withEngine,
} from './subject.js';

export { type BackendSubject, type ComplianceCase, crashAt, type ExchangeLists } from './subject.js';

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
      const restore = await subject.break();
      await withEngine(subject, async (engine) => assert.rejects(engine.apply(subject.owned, call())));
      await restore();
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
        assert.deepEqual(left, [], 'kinds without a resource');
        return Promise.resolve();
      });
    },
  },
  ...replacementCases,
  ...exchangeCases,
];
