import { describe, expect, test } from 'vitest';
import type { CandidateName } from '../src/candidates.js';
import type { Measurement, Operation } from '../src/measure.js';
import { compareSdn, formatSdn } from '../src/sdn/report.js';
import { defaultSdnOptions, type SdnResult } from '../src/sdn/run-sdn.js';
import { summarize } from '../src/statistics.js';

function measurement(candidate: CandidateName, operation: Operation, time: number): Measurement {
  const summary = summarize([time]);
  const rest = { workers: 1, podsPerSecond: 1_000 / time, elapsed: time, daemonTime: undefined };
  return { candidate, operation, summary, samples: [time], ...rest };
}

/** One port takes 2 ms, ADD of the model routed 4 ms, and DEL 3 ms. */
const resultOf = (add: number, del: number, commands: readonly Measurement[] = []): SdnResult => ({
  machine: { kernel: '6.18', processor: 'any', processors: 2, node: '20' },
  load: { before: 0, after: 0 },
  options: { ...defaultSdnOptions, binDir: 'bin', agent: ['podwire', 'agent'] },
  adds: {
    measurements: [
      ...[measurement('podwire', 'ADD', 4), measurement('podwire', 'DEL', 3)],
      ...[measurement('sdn', 'ADD', add), measurement('sdn', 'DEL', del), ...commands],
    ],
    port: summarize([2]),
  },
  rates: {
    flows: { count: 20_000, podwire: 40_000, ofctl: 80_000, ratio: 0.5 },
    ports: { count: 300, podwire: 500, vsctl: 500, vsctlEach: 5_000, ratio: 1, ratioEach: 0.1 },
  },
  throughput: { podwire: [1e9], byHand: [1e9], ratio: 1 },
});

describe('budgets of the model sdn', () => {
  test.each([
    [8, 6, true],
    [8.1, 6.1, false],
  ])('an ADD of %d ms and a DEL of %d ms are within them: %s', (add, del, met) => {
    const figures = compareSdn(resultOf(add, del));
    const metBy = (name: string): boolean | undefined => figures.find((one) => one.name === name)?.met;
    expect(metBy('ADD p50, of one port and 1.5 ADDs of the model routed')).toBe(met);
    expect(metBy('DEL p50, of that of the model routed')).toBe(met);
  });

  test('calls by commands are compared with those of the model', () => {
    const commands = [measurement('commands', 'ADD', 80), measurement('commands', 'DEL', 30)];
    const figures = compareSdn(resultOf(8, 6, commands)).filter(({ name }) => name.includes('commands'));
    expect(figures.map(({ value, met }) => [value, met])).toEqual([
      [0.1, true],
      [0.2, false],
    ]);
    expect(formatSdn(resultOf(8, 6, commands))).not.toContain('not measured');
  });

  test('without host-local nothing is compared with commands, and the report names what is missing', () => {
    const report = formatSdn(resultOf(8, 6));
    expect(report).toContain('By commands: not measured, there is no host-local in /usr/lib/cni.');
    expect(report).not.toMatch(/NaN|undefined/);
  });
});
