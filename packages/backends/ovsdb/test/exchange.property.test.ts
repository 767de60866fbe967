/** From any list of resources to any other in one transaction: the rows are those that a new database would have. */
import { setImmediate } from 'node:timers/promises';
import { createEngine, type Engine, type Owned, type Resource } from '@podwire/engine';
import { OvsdbClient } from '@podwire/ovsdb';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createSwitchBackend } from '../src/index.js';
import { createFakeSwitch, type FakeSwitch } from './fake-switch.js';

const names = ['a', 'b', 'c'];
const bridges = ['br0', 'br1'];
const pairs = fc.dictionary(fc.constantFrom('k', 'l'), fc.constantFrom('1', '2'), { noNullPrototype: true });
const optional = <T>(name: string, value: fc.Arbitrary<T>): fc.Arbitrary<object> =>
  fc.option(value, { nil: undefined }).map((one) => (one === undefined ? {} : { [name]: one }));

/** With the fields that are always there. */
const withFields = (
  fixed: object,
  ...fields: readonly fc.Arbitrary<object>[]
): fc.Arbitrary<Resource | undefined> =>
  fc.option(
    fc.tuple(...fields).map((parts) => Object.assign({}, fixed, ...parts) as Resource),
    { nil: undefined },
  );

const inBridge = fc.constantFrom(...bridges).map((bridge) => ({ bridge }));
const ids = optional('externalIds', pairs);
const config = optional('otherConfig', pairs);

const portOf = (name: string): fc.Arbitrary<Resource | undefined> =>
  withFields(
    { kind: 'ovs-port', name },
    ...[inBridge, ids, config, optional('tag', fc.integer({ min: 0, max: 9 }))],
    optional('qos', fc.constantFrom('gold', 'iron')),
    fc
      .tuple(ids, optional('type', fc.constant('internal')))
      .map(([own, type]) => ({ interfaces: [{ name, ...own, ...type }] })),
  );

const queueOf = (name: string): fc.Arbitrary<Resource | undefined> =>
  withFields({ kind: 'ovs-queue', name }, ids, config, optional('dscp', fc.integer({ min: 0, max: 3 })));

const mirrorOf = (name: string): fc.Arbitrary<Resource | undefined> =>
  withFields(
    { kind: 'ovs-mirror', name },
    ...[inBridge, ids, optional('outputVlan', fc.integer({ min: 1, max: 3 }))],
  );

const list: fc.Arbitrary<readonly Resource[]> = fc
  .tuple(...[portOf, queueOf, mirrorOf].flatMap((make) => names.map(make)))
  .map((all) => all.filter((one) => one !== undefined));

const base: Owned = {
  owner: 'base',
  resources: [
    ...bridges.map((name) => ({ kind: 'ovs-bridge', name }) as const),
    { kind: 'ovs-qos', name: 'gold', type: 'linux-htb' },
    { kind: 'ovs-qos', name: 'iron', type: 'linux-hfsc' },
  ],
};
const call = () => ({ signal: AbortSignal.timeout(20_000) });

async function withEngine(at: FakeSwitch, work: (engine: Engine) => Promise<void>): Promise<unknown> {
  const client = new OvsdbClient({ database: 'Open_vSwitch', ...at.client });
  const engine = createEngine({ backends: [createSwitchBackend(client)] });
  try {
    await engine.apply(base, call());
    await work(engine);
    return at.picture();
  } finally {
    await engine.close();
  }
}

const make = (resources: readonly Resource[]): Promise<unknown> =>
  withEngine(createFakeSwitch(), (engine) => engine.apply({ owner: 'list', resources }, call()));

test('any list takes the place of any other, and leaves nothing of it', async () => {
  await fc.assert(
    fc.asyncProperty(list, list, async (first, second) => {
      const exchanged = await withEngine(createFakeSwitch(), async (engine) => {
        await engine.apply({ owner: 'list', resources: first }, call());
        await engine.change({ owner: 'list' }, { remove: first, add: second }, call());
      });
      expect(exchanged).toEqual(await make(second));
    }),
    { numRuns: 25 },
  );
});

test('any list is repaired into any other, and the rest of it is pruned', async () => {
  await fc.assert(
    fc.asyncProperty(list, list, async (first, second) => {
      const repaired = await withEngine(createFakeSwitch(), async (engine) => {
        await engine.apply({ owner: 'list', resources: first }, call());
        await engine.reconcile([base, { owner: 'list', resources: second }], call());
      });
      expect(repaired).toEqual(await make(second));
    }),
    { numRuns: 25 },
  );
});

test('a change whose connections are cut again and again is as it should be after a reconcile', async () => {
  const pauses = fc.array(fc.integer({ min: 0, max: 12 }), { minLength: 1, maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(list, list, pauses, async (first, second, waits) => {
      const at = createFakeSwitch();
      const changed = await withEngine(at, async (engine) => {
        await engine.apply({ owner: 'list', resources: first }, call());
        const cut = cutAfter(at, waits);
        const change = engine.change({ owner: 'list' }, { remove: first, add: second }, call());
        await Promise.allSettled([change, cut]);
        const failures = await engine.reconcile([base, { owner: 'list', resources: second }], call());
        expect(failures.filter(({ action }) => action === 'failed')).toEqual([]);
      });
      expect(changed).toEqual(await make(second));
    }),
    { numRuns: 40 },
  );
});

async function cutAfter({ server }: FakeSwitch, waits: readonly number[]): Promise<void> {
  for (const turns of waits) {
    for (let turn = 0; turn < turns; turn++) await setImmediate();
    server.cut();
  }
}
