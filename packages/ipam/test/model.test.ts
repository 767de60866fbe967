import fc from 'fast-check';
import { expect, it } from 'vitest';
import { PodwireError } from '@podwire/errors';
import { overlaps, parsePrefix } from '@podwire/addresses';
import {
  type BlockSource,
  createIpam,
  createLocalBlockSource,
  type Ipam,
  type LeaseRequest,
  type Pool,
  type PoolSpec,
} from '@podwire/ipam';
import { Model } from './model.js';

const coolDown = 100;
const pools: readonly PoolSpec[] = [
  { name: 'blue', cidr: '10.0.0.0/28', blockSize: 30, reserved: ['10.0.0.6', '10.0.0.8/30'] },
  { name: 'green', cidr: '10.0.1.0/30', blockSize: 32 },
  { name: 'off', cidr: '10.0.2.0/30', blockSize: 31, disabled: true },
  { name: 'six', cidr: 'fd00::/125', blockSize: 127, reserved: ['fd00::6/127'] },
];
const [blue, green, off, six] = pools as [PoolSpec, PoolSpec, PoolSpec, PoolSpec];

/** Changes of an operator: split, disabled, with a gateway each, cut smaller, gone, back again. */
const laterPools: readonly (readonly PoolSpec[])[] = [
  pools,
  [
    { name: 'blue', cidr: '10.0.0.0/29', blockSize: 30, reserved: ['10.0.0.6'] },
    { name: 'second', cidr: '10.0.0.8/29', blockSize: 30, reserved: ['10.0.0.8/30'] },
    { ...green, disabled: true },
    { ...off, disabled: false },
    { ...six, assignment: 'manual' },
  ],
  [{ ...blue, reserved: [], allocation: 'node-cidr' }, green, { ...six, reserved: [] }],
  [{ ...blue, blockSize: 31, assignment: 'manual' }, { ...green, reserved: ['10.0.1.2'] }, six],
  [green, off, { ...six, allocation: 'node-cidr', blockSize: 126 }],
  [],
];

/** The real thing beside the model, and what a bystander saw of the addresses. */
interface Real {
  readonly ipam: Ipam;
  readonly releasedAt: Map<string, number>;
  /** `skew` is how far the clock is behind the model's, which is never set back. */
  readonly wall: { skew: number };
  /** Makes a block that was lost claimable again. */
  regain(cidr: string): void;
  /** Blocks that were lost, in order. */
  readonly lost: string[];
}

/** Of which blocks can be taken away and come back. */
function createSource(): { source: BlockSource; regain: (cidr: string) => void } {
  const local = createLocalBlockSource();
  const pools = new Set<Pool>();
  const source: BlockSource = {
    claim(pool, holding) {
      pools.add(pool);
      return local.claim(pool, holding);
    },
    giveBack: (pool, block, inUse) => local.giveBack(pool, block, inUse),
  };
  const regain = (cidr: string): void => {
    const block = parsePrefix(cidr);
    const around = [...pools].filter(({ prefix }) => overlaps(prefix, block));
    for (const pool of around) local.giveBack(pool, block, false);
  };
  return { source, regain };
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
  expect(
    ipam
      .foreignLeases()
      .map(({ address }) => address)
      .sort(),
  ).toEqual(model.foreign().sort());
  expect(new Map(ipam.borrowed().map((loan) => [loan.address, loan.borrower]))).toEqual(model.lent);
  expect(ipam.blocks().map((cidr) => cidr.split('/')[0])).toEqual(model.order);
  model.wake();
  compareReport(model, ipam);
}

function compareReport(model: Model, ipam: Ipam): void {
  const report = ipam.report();
  const foreign = model.foreign();
  const inUse = (text: string): boolean => model.taken.has(text) && !foreign.includes(text);
  expect(
    report.map(({ size, used, cooling, lent, blocks }) => ({
      size,
      used,
      cooling,
      lent,
      free: blocks.map(freeOf),
    })),
  ).toEqual(
    model.pools.map((pool) => ({
      size: BigInt(pool.all.length),
      used: pool.all.filter(inUse).length,
      cooling: pool.all.filter((text) => model.isCooling(pool, text)).length,
      lent: pool.all.filter((text) => model.lent.has(text)).length,
      free: pool.owned.map((block) => block.free.length),
    })),
  );
  for (const pool of report) {
    const busy = pool.blocks.reduce((sum, block) => sum + block.used + block.cooling + block.lent, 0);
    expect(busy).toBe(pool.used + pool.cooling + pool.lent);
    expect(BigInt(busy) + pool.reserved + pool.free).toBe(pool.size);
    for (const { cidr, free, used, cooling, lent, reserved } of pool.blocks) {
      const { length } = parsePrefix(cidr);
      expect(free + used + cooling + lent + reserved).toBe(2 ** ((cidr.includes(':') ? 128 : 32) - length));
    }
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
const workload = fc.constantFrom('w0', 'w1');

const request = fc.record(
  {
    owner,
    families,
    pools: choice,
    requested: fc.array(address, { maxLength: 1 }),
    preferred: fc.array(address, { maxLength: 3 }),
    workload,
  },
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
        // The workload that had it need not wait.
        if (wanted.workload !== undefined) continue;
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

const setPools = (at: number): Step =>
  new Both(
    `setPools(${at})`,
    (model) => model.setPools(laterPools[at]!),
    ({ ipam }) => ipam.setPools(laterPools[at]!),
  );

const dropBlock = (n: number): Step =>
  new Both(
    `dropBlock(${n})`,
    (model) => {
      if (model.order.length > 0) model.dropBlock(model.order[n % model.order.length]!);
    },
    ({ ipam, lost }) => {
      const { length } = ipam.blocks();
      if (length === 0) return;
      const cidr = ipam.blocks()[n % length]!;
      const leases = ipam.dropBlock(cidr);
      expect(leases.every((lease) => ipam.foreignLeases().includes(lease))).toBe(true);
      lost.push(cidr);
    },
  );

const regain = new Both(
  'regain',
  (model) => void (model.lost = []),
  (real) => {
    for (const cidr of real.lost.splice(0)) real.regain(cidr);
  },
);

const lend = (n: number, text: string | undefined): Step =>
  new Both(
    `lend(${n}, ${text})`,
    (model) => {
      const first = model.order[n % model.order.length];
      return first === undefined ? undefined : model.lend(first, 'other', text);
    },
    ({ ipam }) => {
      const cidr = ipam.blocks()[n % ipam.blocks().length];
      return cidr === undefined ? undefined : ipam.reserveBorrowed(cidr, 'other', text).address;
    },
  );

const takeBack = (n: number): Step =>
  new Both(
    `takeBack(${n})`,
    (model) => {
      const text = [...model.lent.keys()].sort()[n];
      if (text !== undefined) model.takeBack(text);
    },
    ({ ipam, releasedAt }, model) => {
      const loans = ipam.borrowed().map((loan) => loan.address);
      const text = loans.sort()[n];
      if (text === undefined) return;
      ipam.unmarkBorrowed(text);
      if (ipam.borrowed().length < loans.length) releasedAt.set(text, model.now);
    },
  );

const steps = [
  fc.nat({ max: laterPools.length - 1 }).map(setPools),
  fc.nat({ max: 7 }).map(dropBlock),
  fc.constant(regain),
  fc.tuple(fc.nat({ max: 7 }), fc.option(address, { nil: undefined })).map(([n, text]) => lend(n, text)),
  fc.nat({ max: 3 }).map(takeBack),
  fc
    .tuple(owner, address, workload)
    .map(([who, text, of]) => allocate({ owner: who, requested: [text], workload: of })),
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
      const { source, regain: regainBlock } = createSource();
      const clock = (): number => model.now + wall.skew;
      const ipam = createIpam({ pools, coolDown, clock, blockSource: source });
      const real = { ipam, releasedAt: new Map<string, number>(), wall, regain: regainBlock, lost: [] };
      fc.modelRun(() => ({ model, real }), commands);
    }),
    { numRuns: 200 },
  );
}, 60_000);
