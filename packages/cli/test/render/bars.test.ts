import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { renderBar } from '../../src/render/bars.js';

const cells = '▏▎▍▌▋▊▉█';

describe('bars', () => {
  test.each([
    [0, 10, 10, '██████████'],
    [5, 5, 10, '     █████'],
    [0, 0.5, 10, '▌'],
    [2, 1.25, 10, '  █▎'],
    // It happened: never nothing.
    [3, 0, 10, '   ▏'],
    [10, 0, 10, '         ▏'],
  ])('from %d for %d of %d', (start, duration, total, expected) => {
    expect(renderBar({ start, duration }, total, 10)).toBe(expected);
  });

  test('nothing of nothing', () => expect(renderBar({ start: 0, duration: 0 }, 0, 10)).toBe(''));

  test('never wider than the line, never invisible, and longer for what takes longer', () => {
    const time = fc.double({ min: 0, max: 1000, noNaN: true });
    fc.assert(
      fc.property(time, time, time, fc.integer({ min: 1, max: 80 }), (start, one, other, width) => {
        const total = start + Math.max(one, other) + 1;
        const bar = renderBar({ start, duration: one }, total, width);
        expect(bar.length).toBeLessThanOrEqual(width);
        expect(cells).toContain(bar.at(-1));
        const longer = renderBar({ start, duration: Math.max(one, other) }, total, width);
        expect(longer.length).toBeGreaterThanOrEqual(bar.length);
      }),
    );
  });
});
