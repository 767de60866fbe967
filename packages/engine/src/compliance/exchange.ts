/** Cases of backends with transactions; they pass over those without. */
import assert from 'node:assert/strict';
import type { Owned, Resource } from '../contract.js';
import type { Engine } from '../engine.js';
import {
  type BackendSubject,
  call,
  type ComplianceCase,
  crash,
  type ExchangeLists,
  failed,
  pointsOf,
  prepare,
  settled,
  withEngine,
} from './subject.js';

const OWNER = 'shared';

type Run = (subject: BackendSubject, lists: ExchangeLists) => Promise<void>;

const when =
  (run: Run): ComplianceCase['run'] =>
  async (subject) => {
    if (subject.exchange === undefined) return;
    await prepare(subject);
    await run(subject, subject.exchange);
  };

const ownedOf = (resources: readonly Resource[]): Owned => ({ owner: OWNER, resources });

const put = async (
  engine: Engine,
  add: readonly Resource[],
  remove: readonly Resource[] = [],
): Promise<void> => engine.change({ owner: OWNER }, { replace: add, remove }, call());

/** How much of a list is there as it asks for it. */
async function presentOf(engine: Engine, resources: readonly Resource[]): Promise<readonly string[]> {
  const drifts = new Set((await engine.verify(ownedOf(resources), call())).map(({ resource }) => resource));
  return resources.filter((resource) => !drifts.has(resource)).map(engine.kinds.keyOf);
}

async function assertHas(
  engine: Engine,
  list: readonly Resource[],
  than: readonly Resource[],
): Promise<void> {
  assert.deepEqual(await engine.verify(ownedOf(list), call()), []);
  const keys = new Set(list.map(engine.kinds.keyOf));
  const others = than.filter((resource) => !keys.has(engine.kinds.keyOf(resource)));
  assert.deepEqual(await presentOf(engine, others), []);
}

export const exchangeCases: readonly ComplianceCase[] = [
  {
    name: 'what is exchanged takes the place of what was there, and goes without a trace',
    run: when(async (subject, { first, second }) => {
      const before = await settled(subject);
      await withEngine(subject, async (engine) => {
        await put(engine, first);
        await assertHas(engine, first, second);
        await put(engine, first);
        await put(engine, second, first);
        await assertHas(engine, second, first);
        await put(engine, [], second);
        await put(engine, [], second);
        await put(engine, []);
      });
      assert.deepEqual(await settled(subject), before);
    }),
  },
  {
    name: 'an exchange that is refused changes nothing',
    run: when(async (subject, { first, refused }) => {
      await withEngine(subject, async (engine) => {
        await put(engine, first);
        const before = await settled(subject);
        await assert.rejects(put(engine, refused, first));
        assert.deepEqual(await settled(subject), before);
        await assertHas(engine, first, refused);
      });
    }),
  },
  {
    name: 'a crash before or after an exchange leaves one list or the other, and reconcile finishes both',
    run: when(async (subject, { first, second }) => {
      const before = await settled(subject);
      await withEngine(subject, async (engine) => put(engine, first));
      const exchange = async (engine: Engine): Promise<void> => put(engine, second, first);
      const points = await pointsOf(subject, exchange);
      assert.ok(points.length >= 2, `only ${points.length} points`);
      for (const [number, point] of points.entries()) {
        await withEngine(subject, async (engine) => put(engine, first, second));
        await crash(subject, point, exchange);
        await withEngine(subject, async (engine) => {
          const [list, other] = number === 0 ? [first, second] : [second, first];
          await assertHas(engine, list, other);
          const wanted = [subject.base, ownedOf(second)];
          assert.deepEqual(failed(await engine.reconcile(wanted, call())), [], point);
          await assertHas(engine, second, first);
          assert.deepEqual(await engine.reconcile(wanted, call()), [], point);
        });
      }
      await withEngine(subject, async (engine) => engine.reconcile([subject.base], call()));
      assert.deepEqual(await settled(subject), before);
    }),
  },
  {
    name: 'what was exchanged is found, repaired and pruned like everything else',
    run: when(async (subject, { first, second }) => {
      const before = await settled(subject);
      await withEngine(subject, async (engine) => {
        await put(engine, first);
        const changes = await engine.reconcile([subject.base, ownedOf(second)], call());
        assert.deepEqual(failed(changes), []);
        await assertHas(engine, second, first);
        await engine.reconcile([subject.base], call());
      });
      assert.deepEqual(await settled(subject), before);
    }),
  },
];
