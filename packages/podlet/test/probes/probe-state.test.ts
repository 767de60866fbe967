import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { failure, nextProbeState, success, unknown, unprobed } from '../../src/probes/probe-state.js';

const outcomes = { '+': success(), '-': failure('no'), '?': unknown('away') };
const show = (probeResult: boolean | undefined) =>
  probeResult === undefined ? '.' : probeResult ? '+' : '-';

/** The result after each of the outcomes; `!` when nothing follows. */
function probeResults(
  sequence: string,
  kind: 'liveness' | 'readiness' | 'startup',
  successThreshold: number,
  failureThreshold: number,
) {
  let state = unprobed;
  let shown = '';
  for (const each of sequence) {
    state = nextProbeState(state, outcomes[each as keyof typeof outcomes], kind, {
      successThreshold,
      failureThreshold,
    });
    shown += show(state.probeResult);
    if (state.finished) return `${shown}!`;
  }
  return shown;
}

describe('thresholds', () => {
  test.each([
    ['readiness', '+-+', 1, 1, '+-+'],
    ['readiness', '--+--+---+', 1, 3, '..++++++-+'],
    ['readiness', '-+-++-++', 2, 1, '----+--+'],
    ['readiness', '+?-?-?-', 1, 3, '++++++-'],
    ['readiness', '????', 1, 1, '....'],
    ['liveness', '+--+---+', 1, 3, '++++++-!'],
    ['liveness', '---', 1, 3, '..-!'],
    ['startup', '--+', 1, 3, '..+!'],
    ['startup', '---', 1, 3, '..-!'],
  ] as const)('%s %s with %d and %d: %s', (kind, sequence, ups, downs, expected) => {
    expect(probeResults(sequence, kind, ups, downs)).toBe(expected);
  });
});

test('the result follows the latest full run of equal outcomes', () => {
  const sequence = fc.string({ unit: fc.constantFrom('+', '-', '?'), maxLength: 40 });
  const threshold = fc.integer({ min: 1, max: 4 });
  fc.assert(
    fc.property(sequence, threshold, threshold, (all, ups, downs) => {
      const known = all.replaceAll('?', '');
      const run = new RegExp(`\\+{${ups},}|-{${downs},}`, 'g');
      const last = [...known.matchAll(run)].at(-1)?.[0][0];
      const expected = last === undefined ? '.' : last;
      const shown = probeResults(all, 'readiness', ups, downs);
      expect(shown.at(-1) ?? '.').toBe(expected);
    }),
  );
});
