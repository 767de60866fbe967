/** From any list of resources to any other in one transaction: the rows are those that a new database would have. */
import { setImmediate } from 'node:timers/promises';
import { type Backend, createEngine, type Engine, type Owned, type Resource } from '@podwire/engine';
import { OvsdbClient } from '@podwire/ovsdb';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createSwitchBackend } from '../src/index.js';
import { createNorthboundBackend } from '../src/northbound/index.js';
import { createFakeNorthbound, createFakeSwitch, type FakeDatabase } from './fake-database.js';

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

const ovsPortOf = (name: string): fc.Arbitrary<Resource | undefined> =>
  withFields(
    { kind: 'ovs-port', name },
    ...[inBridge, ids, config, optional('tag', fc.integer({ min: 0, max: 9 }))],
    optional('qos', fc.constantFrom('gold', 'iron')),
    optional('mirrors', fc.subarray(['x', 'y'])),
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

const listOf = (
  ...makers: readonly ((name: string) => fc.Arbitrary<Resource | undefined>)[]
): fc.Arbitrary<readonly Resource[]> =>
  fc.tuple(...makers.flatMap((make) => names.map(make))).map((all) => all.filter((one) => one !== undefined));

interface World {
  readonly list: fc.Arbitrary<readonly Resource[]>;
  /** Resources that others hang in or refer to. */
  readonly base: readonly Resource[];
  readonly createFake: () => FakeDatabase;
  readonly createBackend: (client: OvsdbClient) => Backend;
}

const openVSwitch: World = {
  list: listOf(ovsPortOf, queueOf, mirrorOf),
  base: [
    ...bridges.map((name) => ({ kind: 'ovs-bridge', name }) as const),
    { kind: 'ovs-qos', name: 'gold', type: 'linux-htb' },
    { kind: 'ovs-qos', name: 'iron', type: 'linux-hfsc' },
    ...['x', 'y'].map((name) => ({ kind: 'ovs-mirror', name, bridge: 'br0' }) as const),
  ],
  createFake: createFakeSwitch,
  createBackend: createSwitchBackend,
};

const groups = ['g0', 'g1', 'g2'];

const switchPortOf = (name: string): fc.Arbitrary<Resource | undefined> =>
  withFields(
    { kind: 'logical-switch-port', name, addresses: ['router'] },
    ...[fc.constantFrom('s0', 's1').map((of) => ({ switch: of })), ids, optional('enabled', fc.boolean())],
    optional('dhcpv4Options', fc.constantFrom('short', 'long')),
    optional('groups', fc.subarray(groups)),
  );

const routeOf = (name: string): fc.Arbitrary<Resource | undefined> =>
  withFields(
    { kind: 'static-route', name, prefix: '10.0.0.0/8' },
    ...[fc.constantFrom('r0', 'r1').map((router) => ({ router })), ids],
    fc.constantFrom('10.0.0.1', '10.0.0.2').map((nextHop) => ({ nextHop })),
  );

const addressSetOf = (name: string): fc.Arbitrary<Resource | undefined> =>
  withFields(
    { kind: 'address-set', name },
    fc.subarray(['10.0.0.1', '10.0.0.2']).map((addresses) => ({ addresses })),
  );

const aclOf = (name: string): fc.Arbitrary<Resource | undefined> =>
  withFields(
    { kind: 'acl', name, direction: 'to-lport', priority: 1, match: 'ip4' },
    fc.constantFrom({ switch: 's0' }, { switch: 's1' }, { portGroup: 'g0' }).map((on) => ({ on })),
    ...[fc.constantFrom('allow', 'drop').map((action) => ({ action })), ids],
  );

const qosRuleOf = (name: string): fc.Arbitrary<Resource | undefined> =>
  withFields(
    { kind: 'qos-rule', name, direction: 'from-lport', priority: 1, match: 'ip4' },
    fc.constantFrom('s0', 's1').map((of) => ({ switch: of })),
    ...[fc.constantFrom({ rate: 1 }, { rate: 1, burst: 2 }).map((bandwidth) => ({ bandwidth })), ids],
  );

const balancedSwitchOf = (name: string): fc.Arbitrary<Resource | undefined> =>
  withFields(
    { kind: 'logical-switch', name },
    ...[optional('loadBalancers', fc.subarray(['l0', 'l1'])), config],
  );

const northbound: World = {
  list: listOf(switchPortOf, routeOf, addressSetOf, aclOf, qosRuleOf, balancedSwitchOf),
  base: [
    ...['s0', 's1'].map((name) => ({ kind: 'logical-switch', name }) as const),
    ...['r0', 'r1'].map((name) => ({ kind: 'logical-router', name }) as const),
    ...groups.map((name) => ({ kind: 'port-group', name }) as const),
    ...['l0', 'l1'].map((name) => ({ kind: 'load-balancer', name, vips: {} }) as const),
    ...['short', 'long'].map((name) => ({ kind: 'dhcp-options', name, cidr: '10.0.0.0/8' }) as const),
  ],
  createFake: createFakeNorthbound,
  createBackend: createNorthboundBackend,
};

const worlds = [
  ['Open vSwitch', openVSwitch],
  ['OVN northbound', northbound],
] as const;

const call = () => ({ signal: AbortSignal.timeout(20_000) });
const baseOf = ({ base }: World): Owned => ({ owner: 'base', resources: base });

async function withEngine(
  world: World,
  at: FakeDatabase,
  work: (engine: Engine) => Promise<void>,
): Promise<unknown> {
  const client = new OvsdbClient({ database: at.server.name, ...at.client });
  const engine = createEngine({ backends: [world.createBackend(client)] });
  try {
    await engine.apply(baseOf(world), call());
    await work(engine);
    return at.picture();
  } finally {
    await engine.close();
  }
}

const make = (world: World, resources: readonly Resource[]): Promise<unknown> =>
  withEngine(world, world.createFake(), (engine) => engine.apply({ owner: 'list', resources }, call()));

test.each(worlds)('%s: any list takes the place of any other, and leaves nothing of it', async (_, world) => {
  const { list } = world;
  await fc.assert(
    fc.asyncProperty(list, list, async (first, second) => {
      const exchanged = await withEngine(world, world.createFake(), async (engine) => {
        await engine.apply({ owner: 'list', resources: first }, call());
        await engine.change({ owner: 'list' }, { remove: first, add: second }, call());
      });
      expect(exchanged).toEqual(await make(world, second));
    }),
    { numRuns: 25 },
  );
});

test.each(worlds)(
  '%s: any list is repaired into any other, and the rest of it is pruned',
  async (_, world) => {
    const { list } = world;
    await fc.assert(
      fc.asyncProperty(list, list, async (first, second) => {
        const repaired = await withEngine(world, world.createFake(), async (engine) => {
          await engine.apply({ owner: 'list', resources: first }, call());
          await engine.reconcile([baseOf(world), { owner: 'list', resources: second }], call());
        });
        expect(repaired).toEqual(await make(world, second));
      }),
      { numRuns: 25 },
    );
  },
);

test.each(worlds)(
  '%s: a change whose connections are cut again and again is as it should be after a reconcile',
  async (_, world) => {
    const pauses = fc.array(fc.integer({ min: 0, max: 12 }), { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(world.list, world.list, pauses, async (first, second, waits) => {
        const at = world.createFake();
        const changed = await withEngine(world, at, async (engine) => {
          await engine.apply({ owner: 'list', resources: first }, call());
          const cut = cutAfter(at, waits);
          const change = engine.change({ owner: 'list' }, { remove: first, add: second }, call());
          await Promise.allSettled([change, cut]);
          const failures = await engine.reconcile(
            [baseOf(world), { owner: 'list', resources: second }],
            call(),
          );
          expect(failures.filter(({ action }) => action === 'failed')).toEqual([]);
        });
        expect(changed).toEqual(await make(world, second));
      }),
      { numRuns: 40 },
    );
  },
);

async function cutAfter({ server }: FakeDatabase, waits: readonly number[]): Promise<void> {
  for (const turns of waits) {
    for (let turn = 0; turn < turns; turn++) await setImmediate();
    server.cut();
  }
}
