import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compare } from '../src/compare.js';
import { compareDisturbed } from '../src/cluster/report.js';
import type { CandidateName } from '../src/candidates.js';
import { type Measurement, merge, type Operation } from '../src/measure.js';
import { readNetstrings, writeNetstrings } from '../src/netstring.js';
import { formatNumber, formatTable } from '../src/table.js';
import { pairedRatio, quantile, type Summary, summarize } from '../src/statistics.js';

describe('netstrings', () => {
  test('any texts come back', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' })), (texts) => {
        expect(readNetstrings(writeNetstrings(texts))).toEqual(texts);
      }),
    );
  });

  test.each(['3:ab,', '2:abc', 'x:,', '5', '-1:,'])('%s is none', (text) => {
    expect(() => readNetstrings(Buffer.from(text))).toThrow(SyntaxError);
  });
});

describe('quantiles by nearest rank', () => {
  const samples = Array.from({ length: 200 }, (_, index) => 200 - index);

  test('of two hundred samples', () => {
    expect(summarize(samples)).toEqual({ count: 200, minimum: 1, median: 100, p99: 198, maximum: 200 });
  });

  test('a quantile is a sample, and no more than that share is below it', () => {
    const some = fc.array(fc.double({ noNaN: true }), { minLength: 1 });
    fc.assert(
      fc.property(some, fc.double({ min: 0, max: 1, noNaN: true }), (values, fraction) => {
        const found = quantile(values, fraction);
        expect(values).toContain(found);
        expect(values.filter((value) => value < found).length).toBeLessThan(
          Math.max(1, fraction * values.length + 1),
        );
      }),
    );
  });
});

test('ratios are of the same round: what slows both down counts for neither', () => {
  expect(pairedRatio([100, 10, 50], [50, 5, 25])).toBe(2);
  // Not the ratio of the medians, which is 1.8.
  expect(pairedRatio([10, 100, 90], [10, 50, 100])).toBe(1);
});

function measurement(
  candidate: CandidateName,
  operation: Operation,
  workers: number,
  samples: number[],
): Measurement {
  const elapsed = samples.reduce((sum, sample) => sum + sample, 0) / workers;
  const podsPerSecond = (samples.length * 1_000) / elapsed;
  return {
    candidate,
    operation,
    workers,
    summary: summarize(samples),
    podsPerSecond,
    elapsed,
    daemonTime: undefined,
    samples,
  };
}

test('merges rounds by candidate, call and concurrency', () => {
  const [adds, dels, ...rest] = merge([
    measurement('ptp', 'ADD', 1, [10, 30]),
    measurement('ptp', 'DEL', 1, [5]),
    measurement('ptp', 'ADD', 1, [20]),
  ]);
  expect(rest).toEqual([]);
  expect(adds).toMatchObject({ samples: [10, 30, 20], elapsed: 60, podsPerSecond: 50 });
  expect(adds?.summary.median).toBe(20);
  expect(dels?.samples).toEqual([5]);
});

describe('thresholds', () => {
  const taken = [
    measurement('ptp', 'ADD', 1, [10, 10, 10]),
    measurement('ptp', 'DEL', 1, [20, 20, 20]),
    measurement('podwire', 'ADD', 1, [3, 3, 10]),
    measurement('podwire', 'DEL', 1, [4, 4, 4]),
    measurement('ptp', 'ADD', 32, [64, 64]),
    measurement('podwire', 'ADD', 32, [16, 16]),
  ];
  const byName = (name: string) => compare(taken, undefined).find((one) => one.name === name);

  test('a figure meets or misses its threshold', () => {
    expect(byName('ADD p50 of ptp')).toMatchObject({ value: 0.3, met: true });
    expect(byName('DEL p50 of ptp')).toMatchObject({ value: 0.2, met: false });
    expect(byName('ADD pods/s of ptp, 32 at once')).toMatchObject({ value: 4, met: true });
    expect(byName('ADD p99 of p50, 1 at once')).toMatchObject({ met: false });
  });

  test('figures without a measurement are left out', () => {
    expect(byName('ADD p50 of the chain')).toBeUndefined();
    expect(compare([], undefined)).toEqual([]);
  });

  test('compares the figures of the agent', () => {
    const least4 = { unit: '×', limit: { at: 'least', value: 4 } };
    const figures = {
      endpoints: 1_000,
      residentBytes: 121e6,
      idleShare: 0.005,
      idleSeconds: 10,
      restart: 900,
    };
    const cold = { firstAdd: 300, firstAdds: [300], addsPerSecond: 2_000, deletesPerSecond: 100 };
    const agent = { ...figures, restarts: [900], addWithFew: 2, addWithMany: 2.4, cold };
    expect(compare([], agent).map(({ met }) => met)).toEqual([false, true, true, true, undefined]);
    // The peer attaches 500 pods a second.
    const beside = compare(taken, agent).filter(({ name }) => name.includes('just started'));
    expect(beside).toEqual([
      { name: 'ADD pods/s of ptp, 32 at once, agent just started', value: 4, ...least4, met: true },
    ]);
  });
});

test.each([
  [20, true],
  [20.1, false],
])('an ADD that is disturbed for %d ms is within the budget: %s', (excess, met) => {
  const [undisturbed, disturbed] = [[2], [2 + excess]].map(summarize) as [Summary, Summary];
  const meanwhile = { endpoints: 1_000, budget: 20, reconciles: 3, pools: 4 };
  const figures = compareDisturbed({ ...meanwhile, undisturbed, disturbed, excess });
  expect(figures.map(({ value }) => value)).toEqual([2, 2 + excess, excess]);
  expect(figures.map((one) => one.met)).toEqual([undefined, undefined, met]);
});

test('tables have aligned columns', () => {
  expect(
    formatTable([
      ['name', 'ms'],
      ['a', '12.5'],
    ]),
  ).toEqual(['name    ms', 'a     12.5']);
});

test.each([
  [0.0123, '0.012'],
  [1.2345, '1.23'],
  [12.345, '12.3'],
  [1234.5, '1235'],
  [0, '0.000'],
  [Number.NaN, '-'],
])('%d is written %s', (value, text) => {
  expect(formatNumber(value)).toBe(text);
});
