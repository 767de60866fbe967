import { expect, test } from 'vitest';
import { compareOvn, formatOvn } from '../src/ovn/report.js';
import { defaultOvnOptions, type OvnResult } from '../src/ovn/run-ovn.js';
import { summarize } from '../src/statistics.js';

/** Rows alone take 40 ms for one pod, and 500 ms for fifty. */
const resultOf = (reached: number, burst: number, time: number): OvnResult => ({
  machine: { kernel: '6.18', processor: 'any', processors: 2, node: '20' },
  load: { before: 0, after: 0 },
  options: { ...defaultOvnOptions, binDir: 'bin', agent: ['podwire', 'agent'] },
  adds: {
    ...{ answered: summarize([reached - 2]), reached: summarize([reached]) },
    ...{ deleted: summarize([8]), bare: summarize([40]) },
    burst: { count: 50, podwire: [burst], bare: [450], ratio: 450 / burst },
  },
  throughput: {
    onNode: { podwire: [1e9], byHand: [1e9], ratio: 1 },
    between: { podwire: [9e8], byHand: [1e9], ratio: 0.9 },
  },
  sync: { pods: 1_000, subnets: 10, time, residentBytes: 130e6 },
});

test.each([
  [50, 500, 5_000, true],
  [50.1, 501, 5_001, false],
])(
  'budgets of an ADD of %d ms, a burst of %d ms and a sync of %d ms are met: %s',
  (add, burst, sync, met) => {
    const figures = compareOvn(resultOf(add, burst, sync));
    const metBy = (name: string): boolean | undefined => figures.find((one) => one.name === name)?.met;
    expect(metBy('ADD until a ping, p50, beyond rows alone')).toBe(met);
    expect(metBy('50 pods at once, rate of rows alone')).toBe(met);
    expect(metBy('controller, 1000 pods in 10 subnets')).toBe(met);
  },
);

test('the report has a row for each figure', () => {
  const report = formatOvn(resultOf(50, 500, 2_000));
  expect(report).toMatch(/^ADD until a ping is answered +1 +50.0 +50.0$/m);
  expect(report).toMatch(/^TCP between nodes, of rows by hand +0.900 × +at least 0.950 × +MISSED$/m);
  expect(report).toMatch(/^the same, resident +130 MB +at most 250 MB +met$/m);
  expect(report).not.toMatch(/NaN|undefined/);
});
