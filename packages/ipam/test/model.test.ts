import fc from 'fast-check';
import { expect, it } from 'vitest';
import { PodwireError } from '@podwire/errors';
import { createIpam, type Ipam, type LeaseRequest, type PoolSpec } from '@podwire/ipam';
import { Model } from './model.js';

const coolDown = 100;
const pools: readonly PoolSpec[] = [
  { name: 'blue', cidr: '10.0.0.0/28', blockSize: 30, reserved: ['10.0.0.6', '10.0.0.8/30'] },
  { name: 'green', cidr: '10.0.1.0/30', blockSize: 32 },
  { name: 'off', cidr: '10.0.2.0/30', blockSize: 31, disabled: true },
  { name: 'six', cidr: 'fd00::/125', blockSize: 127, reserved: ['fd00::6/127'] },
];

/** The real thing beside the model, and what a bystander saw of the addresses. */
interface Real {
  readonly ipam: Ipam;
  readonly releasedAt: Map<string, number>;
  /** `skew` is how far the clock is behind the model's, which is never set back. */
  readonly wall: { skew: number };
}

type Step = fc.Command<Model, Real>;

/** Both do it; both must give the same addresses or refuse with the same code. Then everything is compared. */
class Both implements Step {
  readonly name: string;
  readonly onModel: (model: Model) => unknown;
  readonly onReal: (real: Real, model: Model) => unknown;

  constructor(
    name: string,
    onModel: (model: Model) => unknown,
    onReal: (real: Real, model: Model) => unknown,
  ) {
    this.name = name;
    this.onModel = onModel;
    this.onReal = onReal;
  }

  check(): boolean {
    return true;
  }

  run(model: Model, real: Real): void {
    const expected = outcome(() => this.onModel(model));
    expect(outcome(() => this.onReal(real, model))).toEqual(expected);
    compare(model, real);
  }

  toString(): string {
    return this.name;
  }
}

function outcome(act: () => unknown): unknown {
  try {
    return act();
  } catch (error) {
    if (error instanceof PodwireError) return error.code;
    throw error;
  }
}

function compare(model: Model, { ipam }: Real): void {
  const leases = ipam.leases();
  expect(new Set(leases.map((lease) => lease.address)).size).toBe(leases.length);
  expect(new Map(leases.map((lease) => [lease.address, lease.owner]))).toEqual(model.taken);
  expect(ipam.foreignLeases().map(({ address }) => address)).toEqual(
    [...model.taken.keys()].filter((address) => model.poolOf(address) === undefined),
  );
  expect(ipam.blocks().map((cidr) => cidr.split('/')[0])).toEqual(model.order);
  model.wake();
  compareReport(model, ipam);
}

function compareReport(model: Model, ipam: Ipam): void {
  const report = ipam.report();
  expect(
    report.map(({ size, used, cooling, blocks }) => ({ size, used, cooling, free: blocks.map(freeOf) })),
  ).toEqual(
    model.pools.map((pool) => ({
      size: BigInt(pool.all.length),
      used: pool.all.filter((text) => model.taken.has(text)).length,
      cooling: pool.cooling.length,
      free: pool.owned.map((block) => block.free.length),
    })),
  );
  for (const pool of report) {
    const busy = pool.blocks.reduce((sum, block) => sum + block.used + block.cooling, 0);
    expect(busy).toBe(pool.used + pool.cooling);
    expect(BigInt(busy) + pool.reserved + pool.free).toBe(pool.size);
  }
}

const freeOf = (block: { free: number }): number => block.free;

const owner = fc.integer({ min: 0, max: 15 }).map((n) => `o${n}`);
const address = fc.constantFrom(
  ...new Model(pools, 0).pools.flatMap((pool) => pool.all),
  '192.0.2.1',
  'fd01::1',
);
const families = fc.constantFrom([4] as const, [6] as const, [4, 6] as const);
const choice = fc.subarray(['blue', 'green', 'off', 'six'], { minLength: 1 });

const request = fc.record(
  { owner, families, pools: choice, requested: fc.array(address, { maxLength: 1 }) },
  { requiredKeys: ['owner'] },
);

function allocate(wanted: LeaseRequest): Step {
  return new Both(
    `allocate(${JSON.stringify(wanted)})`,
    (model) => model.allocate(wanted),
    (real, model) => {
      const fresh = model.now;
      const before = new Set(real.ipam.leases().map((lease) => lease.address));
      const leases = real.ipam.allocate(wanted);
      for (const lease of leases.filter((each) => !before.has(each.address))) {
        const rested = fresh - (real.releasedAt.get(lease.address) ?? Number.NEGATIVE_INFINITY);
        expect(rested).toBeGreaterThanOrEqual(coolDown);
      }
      return leases.map((lease) => lease.address);
    },
  );
}

const release = (who: string): Step =>
  new Both(
    `release(${who})`,
    (model) => model.release(who),
    (real, model) => {
      const freed = real.ipam.release(who);
      expect(freed.every((lease) => lease.owner === who)).toBe(true);
      for (const lease of freed) real.releasedAt.set(lease.address, model.now);
      return freed.map((lease) => lease.address);
    },
  );

const adopt = (who: string, text: string): Step =>
  new Both(
    `adopt(${text}, ${who})`,
    (model) => model.adopt(text, who),
    (real) => real.ipam.adopt({ address: text, owner: who, pool: 'p', since: 1 }),
  );

const steps = [
  request.map(allocate),
  owner.map((who) => allocate({ owner: who })),
  owner.map((who) => allocate({ owner: who, families: [4] })),
  fc.tuple(owner, address).map(([who, text]) => allocate({ owner: who, requested: [text] })),
  owner.map(release),
  fc.tuple(owner, address).map(([who, text]) => adopt(who, text)),
  fc.integer({ min: 1, max: 70 }).map(
    (milliseconds) =>
      new Both(
        `advance(${milliseconds})`,
        (model) => void (model.now += milliseconds),
        () => undefined,
      ),
  ),
  fc.integer({ min: 1, max: 500 }).map(
    (milliseconds) =>
      new Both(
        `set the clock back(${milliseconds})`,
        () => undefined,
        (real) => void (real.wall.skew -= milliseconds),
      ),
  ),
  fc.constant(
    new Both(
      'releaseEmptyBlocks',
      (model) => model.releaseEmptyBlocks(),
      (real) => real.ipam.releaseEmptyBlocks().map((cidr) => cidr.split('/')[0]),
    ),
  ),
];

it('does what the model does, whatever happens in whatever order', () => {
  fc.assert(
    fc.property(fc.commands(steps, { maxCommands: 120, size: 'max' }), (commands) => {
      const model = new Model(pools, coolDown);
      const wall = { skew: 0 };
      const ipam = createIpam({ pools, coolDown, clock: () => model.now + wall.skew });
      const real = { ipam, releasedAt: new Map<string, number>(), wall };
      fc.modelRun(() => ({ model, real }), commands);
    }),
    { numRuns: 200 },
  );
}, 60_000);
