// @module-tag long
/** Few addresses for many nodes, so that most are borrowed; agents die at every step of it, and start while the store is away. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { describeError } from '@podwire/errors';
import type { Fault } from '@podwire/store/memory';
import { names, World } from './support/world.js';

type Step = fc.AsyncCommand<Record<string, never>, World, true>;

const step = (name: string, act: (world: World) => unknown): Step => ({
  check: () => Promise.resolve(true),
  run: async (_, world) => {
    await act(world);
    await world.check();
  },
  toString: () => name,
});

/** Wherever an agent may die between two things that outlive it. */
const points = [
  ...['claim:chosen', 'claim:written'],
  ...['borrow:asked', 'borrow:returned'],
  ...['grant:chosen', 'grant:written'],
  ...['release:announced', 'release:written'],
  ...['saved-state:changed', 'saved-state:written'],
];

const two = [{ name: 'blue', cidr: '10.0.0.0/28', blockSize: 29 }];
const parts = [
  { name: 'blue-1', cidr: '10.0.0.0/29', blockSize: 29 },
  { name: 'blue-2', cidr: '10.0.0.8/29', blockSize: 29 },
];
const layouts = [two, parts, two.map((pool) => ({ ...pool, disabled: true }))];
const capacity = 14;

const node = fc.constantFrom(...names);
const address = fc.nat({ max: 15 }).map((n) => `10.0.0.${n}`);
const fault = fc.constantFrom<Fault>('request-lost', 'unavailable', 'answer-lost', 'conflict');

const addEverywhere = async (world: World, count: number): Promise<void> => {
  for (let n = 0; n < count; n++) for (const name of names) world.add(world.machine(name));
  await world.advance(100);
};

const steps: fc.Arbitrary<Step>[] = [
  fc.tuple(node, fc.integer({ min: 1, max: 5 })).map(([name, count]) =>
    step(`add ${count} on ${name}`, async (world) => {
      for (let n = 0; n < count; n++) world.add(world.machine(name));
      await world.advance(60);
    }),
  ),
  fc.tuple(node, address).map(([name, text]) =>
    step(`add ${text} on ${name}`, async (world) => {
      world.add(world.machine(name), text);
      await world.advance(60);
    }),
  ),
  fc.tuple(node, fc.nat({ max: 9 }), fc.integer({ min: 1, max: 4 })).map(([name, at, count]) =>
    step(`remove ${count} from ${at} of ${name}`, (world) => {
      for (let n = 0; n < count; n++) world.remove(world.machine(name), at);
    }),
  ),
  fc
    .constantFrom(5, 50, 500, 5_000, 30_000, 70_000)
    .map((milliseconds) => step(`advance ${milliseconds}`, (world) => world.advance(milliseconds))),
  fc.tuple(node, fc.constantFrom(...points), fc.nat({ max: 2 })).map(([name, point, skip]) =>
    step(`kill the agent of ${name} at ${point} after ${skip}`, (world) => {
      world.machine(name).deadly = { point, skip };
    }),
  ),
  fc
    .tuple(node, fc.constantFrom('kept', 'kept, and the store away'))
    .map(([name, file]) =>
      step(`start the agent of ${name}, saved state ${file}`, (world) =>
        world.startAgent(world.machine(name), file),
      ),
    ),
  fc.integer({ min: 1, max: 3 }).map((count) =>
    step(`kill all, start them while the store is away, and add ${count} everywhere`, async (world) => {
      await world.restartAllWithoutStore();
      await addEverywhere(world, count);
    }),
  ),
  fc.constant(
    step('the store is back', async (world) => {
      for (const machine of world.machines) {
        if (machine.node === undefined) await world.startAgent(machine, 'kept');
        else await world.cluster.during(machine.node.restore(), 5);
      }
      await world.advance(500);
    }),
  ),
  fc
    .tuple(node, fc.integer({ min: 1, max: 3 }), fc.constantFrom(5, 100, 6_000))
    .map(([name, count, milliseconds]) =>
      step(`the next ${count} writes of ${name} stay on the way; after ${milliseconds}`, async (world) => {
        world.machine(name).hanging = count;
        await world.advance(milliseconds);
      }),
    ),
  fc
    .nat({ max: 9 })
    .map((at) => step(`write ${at} of those on the way arrives`, (world) => world.arrive(at))),
  fc
    .tuple(node, fc.array(fc.option(fault, { nil: undefined }), { minLength: 1, maxLength: 4 }))
    .map(([name, kinds]) =>
      step(`faults of ${name}: ${kinds.join(' ')}`, (world) => {
        for (const kind of kinds) if (kind !== undefined) world.machine(name).faults.push(kind);
      }),
    ),
  fc.tuple(node, fc.boolean()).map(([name, isFull]) =>
    step(`the disk of ${name} is ${isFull ? '' : 'not '}full`, (world) => {
      world.machine(name).disk.isFull = isFull;
    }),
  ),
  fc.nat({ max: layouts.length - 1 }).map((at) => step(`pools ${at}`, (world) => world.setLayout(at))),
];

it('no address has two owners, whenever agents die and start without the store', async () => {
  const property = fc.asyncProperty(
    fc.commands(steps, { maxCommands: 40, size: 'max' }),
    async (commands) => {
      const world = new World({ layouts, capacity });
      try {
        await world.begin();
        await fc.asyncModelRun(() => ({ model: {}, real: world }), commands);
        await world.end();
      } finally {
        await world.close();
      }
    },
  );
  const numRuns = Number(process.env['PODWIRE_MODEL_RUNS'] ?? 30);
  const result = await fc.check(property, { numRuns });
  const failure = result.failed
    ? `${fc.defaultReportMessage(result)}\n${describeError(result.errorInstance)}`
    : undefined;
  expect(failure).toBeUndefined();
}, 600_000);
