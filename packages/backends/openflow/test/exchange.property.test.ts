/** From any list of resources to any other: the bridge is then as if it had never been otherwise. */
import { createEngine, type Engine, type Resource } from '@podwire/engine';
import type { FakeSwitch } from '@podwire/openflow/fake';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createFlowBackend } from '../src/index.js';
import { flow, group, meter, pictureOf, route } from './compliance-subject.js';
import { connectTo, createFakeBridge } from './fake-bridge.js';

const port = fc.integer({ min: 1, max: 3 });
const numbers = [1, 2, 3];

const groups = fc.uniqueArray(fc.tuple(fc.constantFrom(...numbers), port), { selector: ([id]) => id });
const meters = fc.uniqueArray(fc.tuple(fc.constantFrom(...numbers), port), { selector: ([id]) => id });
const routes = fc.uniqueArray(fc.tuple(fc.constantFrom(...numbers), port, fc.nat({ max: 1 })), {
  selector: ([id]) => id,
});

/** A flow for each group and meter, which cannot be there without it. */
const list: fc.Arbitrary<readonly Resource[]> = fc
  .tuple(groups, meters, routes)
  .map(([someGroups, someMeters, someRoutes]) => [
    ...someRoutes.map(([id, to, mark]) => route(`10.0.0.${id}`, to, { mark })),
    ...someGroups.flatMap(([id, to]) => [
      flow({ table: 60, match: { reg0: id }, write: [{ type: 'group', group: id }] }),
      group(id, to),
    ]),
    ...someMeters.flatMap(([id, to]) => [
      flow({
        table: 60,
        match: { reg1: id },
        meter: 0x7000 + (someMeters.length === 3 ? id : someMeters[0]![0]),
      }),
      meter(id, to),
    ]),
  ]);

const call = () => ({ signal: AbortSignal.timeout(20_000) });

async function withEngine(at: FakeSwitch, work: (engine: Engine) => Promise<unknown>): Promise<unknown> {
  const open = () => connectTo(at);
  const engine = createEngine({ backends: [createFlowBackend({ bridges: ['br0'], open })] });
  try {
    await work(engine);
  } finally {
    await engine.close();
  }
  const connection = await connectTo(at);
  const found = await pictureOf(connection);
  connection.close();
  return found;
}

const make = (resources: readonly Resource[]): Promise<unknown> =>
  withEngine(createFakeBridge(), (engine) => engine.apply({ owner: 'list', resources }, call()));

test('any list takes the place of any other, and leaves nothing of it', async () => {
  await fc.assert(
    fc.asyncProperty(list, list, async (first, second) => {
      const exchanged = await withEngine(createFakeBridge(), async (engine) => {
        await engine.apply({ owner: 'list', resources: first }, call());
        await engine.change({ owner: 'list' }, { remove: first, add: second }, call());
      });
      expect(exchanged).toEqual(await make(second));
    }),
    { numRuns: 15 },
  );
});

test('any list is repaired into any other, and the rest of it is pruned', async () => {
  await fc.assert(
    fc.asyncProperty(list, list, async (first, second) => {
      const repaired = await withEngine(createFakeBridge(), async (engine) => {
        await engine.apply({ owner: 'list', resources: first }, call());
        await engine.reconcile([{ owner: 'list', resources: second }], call());
      });
      expect(repaired).toEqual(await make(second));
    }),
    { numRuns: 15 },
  );
});

test('a change during which the switch begins anew is as it should be after a reconcile', async () => {
  await fc.assert(
    fc.asyncProperty(list, list, fc.integer({ min: 0, max: 12 }), async (first, second, turns) => {
      const at = createFakeBridge();
      const changed = await withEngine(at, async (engine) => {
        await engine.apply({ owner: 'list', resources: first }, call());
        const restart = async (): Promise<void> => {
          for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
          at.restart();
        };
        const change = engine.change({ owner: 'list' }, { remove: first, add: second }, call());
        await Promise.allSettled([change, restart()]);
        const changes = await engine.reconcile([{ owner: 'list', resources: second }], call());
        expect(changes.filter(({ action }) => action === 'failed')).toEqual([]);
      });
      expect(changed).toEqual(await make(second));
    }),
    { numRuns: 20 },
  );
});
