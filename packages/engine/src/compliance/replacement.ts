/** Cases of content that changes, and of lists with thousands of resources. */
import assert from 'node:assert/strict';
import type { Owned, Resource } from '../contract.js';
import type { ChangeSet, Engine } from '../engine.js';
import {
  type BackendSubject,
  call,
  type ComplianceCase,
  crash,
  failed,
  pointsOf,
  prepare,
  settled,
  withEngine,
} from './subject.js';

interface Lists {
  readonly change: ChangeSet;
  /** The owner's list before the change, and after it. */
  readonly before: Owned;
  readonly after: Owned;
}

function listsOf({ owned, replacement }: BackendSubject, { kinds }: Engine): Lists {
  const byKey = new Map(replacement.map((one) => [kinds.keyOf(one), one]));
  const remove = owned.resources.filter((one) => byKey.has(kinds.keyOf(one)));
  const resources = owned.resources.map((one): Resource => byKey.get(kinds.keyOf(one)) ?? one);
  assert.equal(remove.length, replacement.length, 'content for resources that are not there');
  return { change: { remove, add: replacement }, before: owned, after: { ...owned, resources } };
}

const inverse = ({ remove = [], add = [] }: ChangeSet): ChangeSet => ({ remove: add, add: remove });

/** Far more than fits into one message of any backend. */
const MANY = 5_000;

export const replacementCases: readonly ComplianceCase[] = [
  {
    name: 'content changes at its key, and back, without a trace',
    async run(subject) {
      await prepare(subject);
      await withEngine(subject, async (engine) => {
        const { change, before, after } = listsOf(subject, engine);
        await engine.apply(before, call());
        const then = await settled(subject);
        await engine.change(before, change, call());
        assert.deepEqual(await engine.verify(after, call()), []);
        assert.equal((await engine.verify(before, call())).length, subject.replacement.length);
        await engine.change(before, inverse(change), call());
        assert.deepEqual(await engine.verify(before, call()), []);
        assert.deepEqual(await settled(subject), then);
      });
    },
  },
  {
    name: 'a change that fails half way leaves the content that was there',
    async run(subject) {
      await prepare(subject);
      await withEngine(subject, async (engine) => {
        const { change, before } = listsOf(subject, engine);
        const { broken: refused } = subject;
        assert.ok(before.resources.includes(refused), 'the broken resource is not in the list');
        const resources = before.resources.filter((one) => one !== refused);
        await engine.apply({ ...before, resources }, call());
        const then = await settled(subject);
        const restore = await subject.break();
        const broken = await subject.picture();
        const add = [...(change.add ?? []), refused];
        await assert.rejects(engine.change(before, { remove: change.remove ?? [], add }, call()));
        assert.deepEqual(await subject.picture(), broken);
        await restore();
        assert.deepEqual(await settled(subject), then);
      });
    },
  },
  {
    name: 'a crash at any point of a change of content is finished by reconcile, both ways',
    async run(subject) {
      await prepare(subject);
      const { base, owned } = subject;
      const lists = await withEngine(subject, async (engine) => Promise.resolve(listsOf(subject, engine)));
      const change = async (engine: Engine): Promise<void> => engine.change(owned, lists.change, call());
      await withEngine(subject, async (engine) => engine.apply(owned, call()));
      const points = await pointsOf(subject, change);
      for (const wanted of [lists.before, lists.after]) {
        for (const point of points) {
          await withEngine(subject, async (engine) => engine.reconcile([base, lists.before], call()));
          await crash(subject, point, change);
          await withEngine(subject, async (engine) => {
            assert.deepEqual(failed(await engine.reconcile([base, wanted], call())), [], point);
            assert.deepEqual(await engine.verify(wanted, call()), [], point);
            assert.deepEqual(await engine.reconcile([base, wanted], call()), [], point);
          });
        }
      }
    },
  },
  {
    name: 'thousands of resources come, are looked at and go like one',
    async run(subject) {
      if (subject.many === undefined) return;
      await prepare(subject);
      const before = await settled(subject);
      const many: Owned = { owner: 'many', resources: subject.many(MANY) };
      await withEngine(subject, async (engine) => {
        await engine.apply(many, call());
        assert.deepEqual(await engine.verify(many, call()), []);
        assert.deepEqual(await engine.reconcile([subject.base, many], call()), []);
        const half: Owned = { ...many, resources: many.resources.slice(0, MANY / 2) };
        const pruned = await engine.reconcile([subject.base, half], call());
        assert.equal(pruned.filter(({ action }) => action === 'removed').length, MANY / 2);
        await engine.remove(half, call());
      });
      assert.deepEqual(await settled(subject), before);
    },
  },
];
